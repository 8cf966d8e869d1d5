"""Boxes that run other people's programs: Docker containers, boxes made by this service, boxes on other machines, and a
pool.

    sandbox.base   what callers see of boxes
    backend        what each kind of box offers to the pool
    bootstrap      brings the runner into a box
    link           talks to the runner
    pool           lends boxes to programs
"""
