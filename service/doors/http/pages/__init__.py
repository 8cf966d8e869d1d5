"""Static pages for people. They load no script or style from elsewhere, so they work without the internet."""

from pathlib import Path

CONSOLE = Path(__file__).with_name("console")
"""The files of the console. `vendor` holds KaTeX 0.19.1, with its licence."""
REFERENCE = Path(__file__).with_name("reference")
"""The files of the HTTP reference. `vendor` holds OpenAPI Explorer 2.4.820, with its licence."""
