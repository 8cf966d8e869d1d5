"""Words as runs of letters with their marks, in every script."""

import re
from typing import Final

MARKS: Final = "\u0300-\u036f\u064b-\u065f\u0900-\u0963\u0966-\u0dff"
_THAI: Final = "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"
LETTERS: Final = re.compile(rf"[^\W\d_]++(?:[{MARKS}{_THAI}]++[^\W\d_]*+)*+")
"""A word of letters and their marks, in a script without spaces as well."""
