"""The types of rewards."""
