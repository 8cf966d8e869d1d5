"""Encoding of values that leave a judged program, and their decoding elsewhere."""
