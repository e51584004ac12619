"""Encoders: embedded tokens → one state per token; one file each, found by their names.

A new one is a new file here with `@ENCODERS.register` on its class.
"""
