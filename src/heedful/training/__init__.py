"""Training: a loop of small steps, and objectives that each override one of them."""
