"""Puzzles: answers are checked against the rules of a puzzle, so that any valid solution is right."""
