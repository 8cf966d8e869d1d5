"""How episodes are judged."""
