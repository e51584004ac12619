"""Pure functions of numbers: how good a prediction is, how far apart two distributions are.

Nothing here knows of models, data or files.
"""
