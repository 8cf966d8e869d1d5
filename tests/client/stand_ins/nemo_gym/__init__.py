"""A stand-in for NeMo-Gym, for Python without its packages. It has only the interface that resources servers use."""
