"""What training minimises: one file for each objective, found by its name.

A new one is a new file here with `@OBJECTIVES.register` on its class.
"""
