"""A stand-in for NeMo-RL, which no package index has. It has only the interface that environments use."""
