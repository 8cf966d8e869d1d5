"""Static pages for people. They load no script or style from elsewhere, so they work without the internet."""

from importlib.resources import files
from pathlib import Path

DOCS_PAGE = files(__name__).joinpath("docs.html").read_text(encoding="utf-8")
CONSOLE = Path(__file__).with_name("console")
"""The files of the console. `vendor` holds KaTeX 0.19.1, with its licence."""
