"""What a number looks like, how a table is written and how a figure becomes SVG: decided here, once, for everybody.

`numbers`, `markup`, `tables`, `charts`, `shades` (of heatmaps); `terminal` and `bars`, which alone know rich.
"""
