"""Puzzles: answers are checked by the rules of the puzzle, so that any valid solution is right."""
