"""Studies: small grids over one control of a model or corpus, which answer what AtteFa's section 7 leaves open.

A study trains a base for each value, asks the imitation audit, and draws AtteFa against the control.
"""
