"""A stand-in for open-instruct, which no package index has: the interface its verifiers are written against, no more."""
