"""Compares the verdicts of two versions, recipes or configurations on the same stored responses."""
