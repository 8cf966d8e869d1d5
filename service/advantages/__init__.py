"""Advantages of groups of answers to one prompt: `formulas` calculates, `schemas` is what callers send and get, `compute`
leads from one to the other.
"""
