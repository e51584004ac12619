"""Amini & Kosseim 2022, How (Un)Faithful is Attention?, and our studies of its score."""
