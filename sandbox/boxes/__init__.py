"""Boxes that run other people's programs, and a pool that lends them.

There are three kinds: Docker containers, boxes made by this service, and boxes on other machines.

    sandbox.base   what callers see of boxes
    backend        what each kind of box offers to the pool
    bootstrap      brings the runner into a box
    link           talks to the runner
    pool           lends boxes to programs
"""
