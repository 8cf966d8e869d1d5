"""What makes a box unusable: trouble of ours, which says nothing about any program."""


class BoxUnusable(Exception):
    """The box is not as it must be, and cannot be made so; it has to be destroyed."""
