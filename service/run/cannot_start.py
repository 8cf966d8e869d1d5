"""The one error of a start that the operator can put right. Commands print its message and end with exit code 2."""


class CannotStart(Exception):
    """The settings demand something that cannot be had. The message says what."""
