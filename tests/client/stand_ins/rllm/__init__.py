"""A stand-in for rLLM, which the package index does not have: the interface that its reward functions are written against."""
