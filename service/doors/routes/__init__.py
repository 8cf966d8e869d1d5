"""The HTTP routes of our own contract, one module each."""
