"""Files of rollouts: stored responses with their references, and the verdicts on them. Nothing here knows Ray."""
