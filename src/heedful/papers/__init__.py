"""Papers: one file each for its experiments as recipes, its published numbers (YAML) and its claims.

A recipe trains what is missing, audits it, and sets our numbers beside the published ones.
"""
