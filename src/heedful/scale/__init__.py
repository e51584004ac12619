"""Where work runs: this process, processes of this machine, a Ray cluster. It knows nothing of what is done.

Work is given as pieces (`piece.py`) to `share_out.py`; a place to work is one file in `engines/`.
"""
