"""Models whose truth is known, and what every audit and every policy makes of them.

A verdict is a classifier of models: here it is held to what classifiers are held to, error rates on cases that it was
not set on.
"""
