"""Chen & Ji 2022, FLAT: adversarial training that keeps predictions and reasons the same under attack."""
