"""A stand-in for rLLM, which the package index does not have. It has only the interface that reward functions use."""
