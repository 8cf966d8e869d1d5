"""How much may be asked for: by all callers together, and by each key."""
