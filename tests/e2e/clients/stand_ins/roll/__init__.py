"""A stand-in for ROLL, which no package index has. It has only the interface that reward workers use."""
