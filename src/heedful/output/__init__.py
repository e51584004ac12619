"""What a number looks like, how a table is written and how a figure becomes SVG: decided here, once, for everybody.

`numbers`, `tables` (with `markup`), `charts`, `terminal`. The terminal is the only part that knows rich.
"""
