"""Doors that speak other systems' formats, one file each, so that their clients can be pointed here as they are.

Such clients send one item per request, take a refusal for a wrong answer, and try again only after some answers. So these
doors have a caller wait as long as it will wait anyway, and what could not be judged is answered in the way which that
client tries again after.
"""
