"""A stand-in for open-instruct, which no package index has. It has only the interface that verifiers use."""
