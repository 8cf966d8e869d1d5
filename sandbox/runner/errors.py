"""The error for a box that cannot be used any more. It is our fault and says nothing about any program."""


class BoxUnusable(Exception):
    """The box is in a bad state and cannot be repaired: it has to be destroyed."""
