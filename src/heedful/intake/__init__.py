"""How does a file come in? Here: every JSON, YAML, text, packed and array file is read through these few functions.

None of them believes a file: what it says of its size is compared with what is there, and what is nested, repeated or packed
beyond reason (`limits.py`) is `Unreadable`, in a few words that the caller puts into a sentence.
"""
