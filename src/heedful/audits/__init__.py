"""Audits: one file per question asked of a trained model, a policy that weighs their answers, and a verdict.

An audit is one class and one decorator; it then appears in `heedful audit`, `heedful list audits` and policies.
"""
