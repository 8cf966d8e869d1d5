"""Advantages of groups of answers to one prompt. `schemas` holds the types of requests and answers, `formulas` the
calculation, and `compute` leads from requests to answers.
"""
