"""Sweeps: a command done for many options. What is asked for (`grid.py`), what is done (`ledger.py`), and its table."""
