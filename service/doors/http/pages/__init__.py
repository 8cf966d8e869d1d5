"""Static pages for people. They load no script or style from elsewhere, so they work without the internet."""

from importlib.resources import files

DOCS_PAGE = files(__name__).joinpath("docs.html").read_text(encoding="utf-8")
