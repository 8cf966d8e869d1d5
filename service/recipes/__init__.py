"""Recipes (named compositions of checks), and the routing tables that say which rows get which recipe."""
