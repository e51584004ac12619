"""Questions: one file for each audit, and what only audits need.

A new one is a new file here with `@register` on its class.
"""
