"""A stand-in for ROLL, which no package index has: the interface its reward workers are written against, no more."""
