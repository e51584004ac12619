"""Explainers: each gives every item of a text a score. Attention is one of them.

One file per idea, one decorator, and it appears in `heedful explain`, `heedful list explainers` and the audits.
"""
