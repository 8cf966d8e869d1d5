"""Spans of a request, for all other packages; this one imports none of them."""
