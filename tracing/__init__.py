"""Tracing spans for all other packages. This package imports none of them."""
