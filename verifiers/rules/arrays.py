"""numpy without its threads for matrices, which nothing here multiplies.

They would begin when its library is loaded, and processes are forked from some that load it.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # noqa: TID251 - written, not read

import numpy as np
from numpy.typing import NDArray

__all__ = ["NDArray", "np"]
