"""PHP: interpreted. As SandboxFusion does, a text without an opening tag is taken as PHP."""

from typing import Final

from sandbox.languages import Language

_OPEN: Final = """\
grep -q '<?' main.php || printf '<?php ' > program.php
cat main.php >> program.php
"""

LANGUAGE = Language(
    name="php",
    source_file="main.php",
    compile=("sh", "-c", _OPEN),
    keep=("program.php",),
    run=(
        "php",
        "-d",
        "display_errors=stderr",
        # A failed assert() ends the program, in each release of PHP.
        "-d",
        "zend.assertions=1",
        "-d",
        "assert.exception=1",
        # The run's own limit holds.
        "-d",
        "memory_limit=-1",
        "{program}/program.php",
    ),
    needs=("php",),
    version=("php", "--version"),
    packages=("php-cli", "php-mbstring"),
    configuration=("/etc/php",),
    cpu_factor=1.5,
    start_cpu_s=0.1,
)
