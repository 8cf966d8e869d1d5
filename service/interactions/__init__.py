"""Multi-turn interactions whose state lives on the server: in Redis, or in this process where there is none.

door ──► lifecycle ──► engine     one response judged, as in a batch of one
          │ └────────► turns      what a turn comes to: pure functions
          └──────────► storage    one record per interaction, in memory or Redis, changed by compare-and-swap
"""
