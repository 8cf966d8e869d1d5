"""Tracing spans and lines of logs for all other packages. This package imports none of them."""
