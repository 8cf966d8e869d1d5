"""The evaluation of episodes."""
