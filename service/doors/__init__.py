"""How requests come in: over HTTP, over gRPC, and in the formats of other systems. A door parses, asks a room below, and
renders the answer.
"""
