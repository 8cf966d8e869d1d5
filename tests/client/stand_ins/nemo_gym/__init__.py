"""A stand-in for NeMo-Gym, for Python without its packages: the interface its resources servers are written against, no more."""
