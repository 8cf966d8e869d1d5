"""Prints the pins of a folder's prompts: `python -m verifiers.judge.prompts [FOLDER] > pins.txt`."""

import sys
from pathlib import Path

from verifiers.judge.prompts import SHIPPED, read_folder


def main() -> None:
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else SHIPPED
    for name, prompt in read_folder(folder).items():
        sys.stdout.write(f"{name} {prompt.sha256}\n")


if __name__ == "__main__":
    main()
