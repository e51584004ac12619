"""How is a model's answer changed by replacing words? An attack is a goal, candidates, constraints and a search.

`attack.py` says what an attack is, `published/` assembles one in each file, `run_attack.py` carries one out.
"""
