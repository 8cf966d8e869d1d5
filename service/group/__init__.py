"""Groups of answers to one prompt: `advantages` reckons, `shapes` is what callers send and get, `reckoning` leads from
one to the other.
"""
