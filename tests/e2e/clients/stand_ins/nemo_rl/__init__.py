"""A stand-in for NeMo-RL, which no package index has: the interface its environments are written against, no more."""
