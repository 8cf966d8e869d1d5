"""What a caller may ask of extraction: which text, which channels, and what to do with several answers."""

from typing import Annotated, Literal

from pydantic import Field

from verifiers.base import Params
from verifiers.commitment.channels import Channel

Think = Literal["auto", "required", "none"]
OnConflict = Literal["last", "reject"]


class ExtractionParams(Params):
    """The parameters every verifier has that judges an answer inside a response."""

    think: Think = "auto"
    """Which text is judged. auto: after the last closing think tag; required: there must be one; none: all of it."""
    extract: (
        Literal["auto"] | Channel | Annotated[tuple[Channel, ...], Field(min_length=1, max_length=len(Channel))]
    ) = "auto"
    """The channels to look at: for `auto` all marks, of which the last in the text decides; else in order, and the first one that is used decides."""
    on_conflict: OnConflict = "last"
    """Several different answers: the last one, or none."""
