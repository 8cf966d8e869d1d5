"""Boxes, in which programs of others run: Docker containers, those this service makes itself, those of other machines; and
the pool that lends them.

`sandbox.base` is what callers see of them. `backend` is what each kind offers to the pool, `shipment` brings the runner
into a box, `link` talks to it.
"""
