"""Studies: small grids over one control of a model, a corpus or twins, which answer what the papers leave open.

A study trains a base for each value and asks the imitation audit; AtteFa is drawn against the control. The curve
goes on from there with more twins of each base, and draws how far predictions move against how far attention does.
"""
