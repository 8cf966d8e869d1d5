"""Multi-turn interactions whose state lives on the server: in Redis, or in this process where there is none.

door ──► desk ──► engine          one response judged, as in a batch of one
          │ └───► model           what a turn comes to: pure
          └─────► store           memory or redis: one record per interaction, changed by compare-and-swap
"""
