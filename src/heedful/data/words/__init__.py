"""Words: how a text is cut into them, which ones a model knows, their vectors, and what may stand in their place."""
