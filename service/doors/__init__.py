"""The doors, through which requests come in: over HTTP, over gRPC, and in the formats of other systems. A door parses
the request, calls one of the other rooms, and renders the answer.
"""
