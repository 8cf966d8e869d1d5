"""The scripts that run in a task's container around its tests, for any POSIX `sh`."""

from collections.abc import Mapping
from enum import IntEnum
from shlex import quote
from typing import Final

from sandbox.containers.base import GIVEN, MADE


class Exit(IntEnum):
    """How a script of ours ends."""

    DONE = 0
    NOT_ALONE = 40
    """A process of the response could not be ended."""
    BLOCKED = 41
    """There is no room for the tests or the reward."""
    PATCH_FAILED = 42
    FORBIDDEN = 43
    NO_TOOL = 44
    NO_WORKDIR = 45


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

END_OTHERS: Final = f"""
[ "$(tr '\\000' ' ' </proc/1/cmdline)" = "sleep 2147483647 " ] || exit {Exit.NOT_ALONE}
others() {{
    for process in /proc/[0-9]*; do
        case "${{process#/proc/}}" in 1 | $$) continue ;; esac
        state=
        read -r state 2>/dev/null <"$process/stat"
        case "${{state##*) }}" in '' | Z* | X*) ;; *) return 0 ;; esac
    done
    return 1
}}
round=0
while others; do
    round=$((round + 1))
    [ $round -le 100 ] || exit {Exit.NOT_ALONE}
    kill -9 -1
done 2>/dev/null
rm -rf {MADE}/* {MADE}/.[!.]* || exit {Exit.BLOCKED}
exit 0
"""
"""End all processes of a container but its first one, and empty the folder where they could write. It runs in a container of ours only: elsewhere it does nothing."""

PLACE: Final = f"""
LOGS=/logs
TESTS=/tests
rm -rf "$TESTS" "$LOGS/verifier" || exit {Exit.BLOCKED}
mkdir -p "$LOGS/verifier" "$LOGS/agent" "$LOGS/artifacts" || exit {Exit.BLOCKED}
cp -R {GIVEN}/tests "$TESTS" || exit {Exit.BLOCKED}
"""
"""Put the tests where they belong, and make the folder of the reward anew."""

COLLECT: Final = f"""
LOGS=/logs
for name in reward.json reward.txt; do
    if [ -e "$LOGS/verifier/$name" ]; then
        rm -rf {MADE}/reward.json {MADE}/reward.txt
        [ ! -f "$LOGS/verifier/$name" ] || head -c 65537 "$LOGS/verifier/$name" >{MADE}/$name
        exit 0
    fi
done
"""


def run_tests(environment: Mapping[str, str]) -> str:
    """The script that runs the tests."""
    exports = [f"export {name}={quote(value)}" for name, value in environment.items()]
    return "\n".join(["TESTS=/tests", *exports, '"$TESTS/test.sh"', ""])
