"""From files to batches: datasets → instances → tokens with offsets → padded batches.

Whatever a text's tokeniser or shape, everything after this layer sees items with a mask.
"""
