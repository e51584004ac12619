"""The subject of an audit: a model and its texts, read batch by batch, and the scores that are judged."""
