"""The scripts that run in a task's container around its tests, for any POSIX `sh`."""

from collections.abc import Mapping
from enum import IntEnum
from shlex import quote
from typing import Final

from sandbox.containers.base import GIVEN


class Exit(IntEnum):
    """How a script of ours ends."""

    DONE = 0
    PATCH_FAILED = 42
    FORBIDDEN = 43
    NO_TOOL = 44


APPLY: Final = f"""
GIVEN={GIVEN}
while IFS= read -r path; do
    parent=$path
    while case "$parent" in */*) true ;; *) false ;; esac; do
        parent=${{parent%/*}}
        [ ! -L "$parent" ] || {{ echo "$path leads through a link"; exit {Exit.FORBIDDEN}; }}
    done
done <$GIVEN/paths
if [ -s $GIVEN/change.patch ]; then
    GIT_CEILING_DIRECTORIES=$(dirname "$(pwd -P)")
    export GIT_CEILING_DIRECTORIES GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
    if command -v git >/dev/null && git apply --check --whitespace=nowarn $GIVEN/change.patch 2>/dev/null; then
        git apply --whitespace=nowarn $GIVEN/change.patch 2>&1 || exit {Exit.PATCH_FAILED}
    elif command -v patch >/dev/null; then
        patch --batch --forward --fuzz=5 -p1 --no-backup-if-mismatch -i $GIVEN/change.patch 2>&1 || exit {Exit.PATCH_FAILED}
    else
        command -v git >/dev/null || exit {Exit.NO_TOOL}
        exit {Exit.PATCH_FAILED}
    fi
fi
number=0
while IFS= read -r path; do
    number=$((number + 1))
    [ ! -d "$path" ] || [ -L "$path" ] || {{ echo "$path is a folder"; exit {Exit.PATCH_FAILED}; }}
    executable=$([ -x "$path" ] && echo yes)
    rm -f -- "$path" || exit {Exit.PATCH_FAILED}
    if [ -e "$GIVEN/file-$number" ]; then
        mkdir -p -- "$(dirname -- "$path")" && cat <"$GIVEN/file-$number" >"$path" || exit {Exit.PATCH_FAILED}
        [ -z "$executable" ] || chmod +x -- "$path"
    fi
done <$GIVEN/files
exit 0
"""
"""Apply a change in the working directory, as data."""

TESTS: Final = "/tests"
REWARDS: Final = "/logs/verifier"


def run_tests(environment: Mapping[str, str]) -> str:
    """The script that runs the tests."""
    exports = [f"export {name}={quote(value)}" for name, value in environment.items()]
    folders = "mkdir -p /logs/agent /logs/artifacts 2>/dev/null"
    return "\n".join([folders, *exports, f"{TESTS}/test.sh", ""])
