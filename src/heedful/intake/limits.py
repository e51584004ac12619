"""How much a file may hold. All are far above what people have; docs/limits.md lists them."""

from __future__ import annotations

MIB = 2**20

DEPTH = 64
"""Lists in lists: what is deeper breaks programs that read it later, also those that are not ours."""
DIGITS = 300
"""Of a whole number: one of more digits is larger than any other number can be (1.8e308)."""
DOCUMENT = 512 * MIB
"""A whole JSON document: a vocabulary, or a list of the neighbours of every word."""
LINE = 32 * MIB
"""One line of a text file, or one field of a CSV file."""
YAML = 256 * 2**10
"""A YAML file, which is read a hundred times more slowly than JSON: options or a policy have a few thousand bytes."""
SCALAR = 2**16
"""One value in a YAML file: what looks like a number is computed, and the time grows with the square of its length."""
UNPACKED = 16 * MIB
"""What a packed file may always unpack to, however small it is."""
RATIO = 50
"""How many times its size a text may unpack to beyond that: English packs to a third, the same line for ever to a thousandth."""
VECTOR = 2**16
"""Numbers of one word vector, as of every layer of a model."""
ARRAY_RATIO = 200
"""The same of arrays: a list of words is padded to the longest of them."""
TEXT = 1_000_000
"""Characters of one text: five hours of reading."""
LABEL = 1_000
"""Characters of one label."""
ROWS_PER_BYTE = 50
"""Rows that a Parquet file may have for each of its bytes, beyond its first million."""
