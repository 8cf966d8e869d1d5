"""Multi-turn interactions with their state on the server: in Redis if there is one, else in this process.

door ──► lifecycle ──► engine     one response judged, as in a batch of one
          │ └────────► turns      what a turn comes to: pure functions
          └──────────► storage    one record per interaction, in memory or Redis, changed by compare-and-swap
"""
