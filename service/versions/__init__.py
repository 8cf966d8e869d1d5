"""Versions of what judges: other releases beside this one, locks that pin versions, receipts of verdicts."""
