"""How items are judged: what each needs, in which order they wait, and what becomes of the verdicts."""
