"""What rewards are made of."""
