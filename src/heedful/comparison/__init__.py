"""Comparing: several trained models side by side on the same texts.

Numbers of finished audits, paired text by text, with what is best, what is no worse, and what steadiness cost.
"""
