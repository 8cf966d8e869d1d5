"""A stand-in for NeMo-Gym, which no package index has: the interface its resources servers are written against, no more."""
