"""The scripts that run in a task's container before and around the tests, for any POSIX `sh`.

Nothing of the response runs in `PREPARE`: it is applied as data. So its exit codes can be believed, and so can the first line
with the mark of `run_command`, which no code of the response has seen before it is written.
"""

import shlex
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Final

from sandbox.containers.base import GIVEN, MADE


class Exit(IntEnum):
    """How `PREPARE` ends."""

    DONE = 0
    NO_GIT = 40
    NO_REPOSITORY = 41
    OTHER_COMMIT = 42
    PATCH_FAILED = 43
    TEST_PATCH_FAILED = 44
    TROUBLE = 45
    """The disk is full, or the daemon's or the image's fault otherwise."""
    FORBIDDEN = 46


PREPARE: Final = f"""
GIVEN={GIVEN}
KEPT=$(mktemp -d 2>/dev/null) || KEPT={MADE}/kept
export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=safe.directory GIT_CONFIG_VALUE_0='*'
trouble() {{ echo "$1"; exit {Exit.TROUBLE}; }}
cannot() {{  # message: the change's fault unless nothing can be written any more
    head -c 1000000 /dev/zero >"$TOP/.room-$$" && rm "$TOP/.room-$$" || trouble "no room"
    echo "$1"
    exit {Exit.PATCH_FAILED}
}}
apply() {{  # patch, exit code
    [ -s "$1" ] || return 0
    if git apply --check --whitespace=nowarn "$1" 2>"$KEPT.said"; then
        git apply --whitespace=nowarn "$1" 2>&1 || cannot "git cannot write"
    elif [ ! -e $GIVEN/exactly ] && command -v patch >/dev/null && patch --dry-run --batch --forward --fuzz=5 -p1 -i "$1" >/dev/null 2>&1; then
        patch --batch --forward --fuzz=5 -p1 --no-backup-if-mismatch -i "$1" 2>&1 || cannot "patch cannot write"
    else
        cat "$KEPT.said"
        exit "$2"
    fi
}}
put() {{  # content, path
    rm -rf -- "$2" && mkdir -p -- "$(dirname -- "$2")" || cannot "cannot replace $2"
    cat <"$1" >"$2" || cannot "cannot write $2"
}}

command -v git >/dev/null || exit {Exit.NO_GIT}
TOP=$(pwd -P)
OUTSIDE=$(
    IFS=:
    for folder in $PATH; do
        case $folder/ in /*) case $folder/ in "$TOP"/*) ;; *) printf '%s:' "$folder" ;; esac ;; esac
    done
)
[ -z "$OUTSIDE" ] || PATH=${{OUTSIDE%:}}
: >"$KEPT.mark" || trouble "no room"
[ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$TOP" ] || exit {Exit.NO_REPOSITORY}
if [ -n "$1" ]; then
    git merge-base --is-ancestor "$1" HEAD 2>/dev/null || {{ git rev-parse HEAD; exit {Exit.OTHER_COMMIT}; }}
fi
mkdir -p "$KEPT" || trouble "no room"
while IFS= read -r path; do
    parent=$path
    while case "$parent" in */*) true ;; *) false ;; esac; do
        parent=${{parent%/*}}
        [ ! -L "$parent" ] || {{ echo "$path leads through a link"; exit {Exit.FORBIDDEN}; }}
    done
done <$GIVEN/paths
while IFS= read -r path; do
    if [ -f "$path" ] || [ -L "$path" ]; then
        mkdir -p -- "$KEPT/$(dirname -- "$path")" && cp -a -- "$path" "$KEPT/$path" || trouble "cannot keep $path"
    fi
done <$GIVEN/protected
while IFS='	' read -r shadow path; do
    [ -e "$shadow" ] || [ -L "$shadow" ] || printf '%s\n' "$path" >>"$KEPT.shadows"
done <$GIVEN/shadows
while IFS='	' read -r module name path; do
    [ -e "$module" ] || [ -L "$module" ] || printf '%s\t%s\n' "$name" "$path" >>"$KEPT.modules"
done <$GIVEN/modules
if [ -e "$KEPT.modules" ] && command -v find >/dev/null; then
    find / -xdev -maxdepth 9 \\( -path /usr/share -o -name node_modules -o -name .git -o -name "*-packages" -print \\) \
        -prune >"$KEPT.packages" 2>/dev/null
    while IFS= read -r folder; do
        while IFS='	' read -r name path; do
            for module in "$folder/$name" "$folder/$name.py" "$folder/$name".*.so; do
                [ ! -e "$module" ] || printf '%s\n' "$path" >>"$KEPT.shadows"
            done
        done <"$KEPT.modules"
    done <"$KEPT.packages"
fi

apply $GIVEN/change.patch {Exit.PATCH_FAILED}
number=0
while IFS= read -r path; do
    number=$((number + 1))
    if [ -d "$path" ] && [ ! -L "$path" ]; then
        echo "$path is a folder"
        exit {Exit.PATCH_FAILED}
    elif [ -e "$GIVEN/file-$number" ]; then
        executable=$([ -x "$path" ] && echo yes)
        put "$GIVEN/file-$number" "$path"
        [ -z "$executable" ] || chmod +x -- "$path"
    elif [ -e "$path" ] || [ -L "$path" ]; then
        rm -f -- "$path" || cannot "cannot remove $path"
    fi
done <$GIVEN/files
if command -v find >/dev/null; then
    paths="
$(cat $GIVEN/paths)
"
    find . -path ./.git -prune -o ! -type d -newer "$KEPT.mark" -print >"$KEPT.said"
    while IFS= read -r path; do
        case $paths in *"
${{path#./}}
"*) ;; *)
            echo "the change reaches ${{path#./}}, which it does not name"
            exit {Exit.FORBIDDEN} ;;
        esac
    done <"$KEPT.said"
fi

while IFS= read -r path; do
    rm -rf -- "$path" || trouble "cannot restore $path"
done <$GIVEN/protected
[ ! -e "$KEPT.shadows" ] || while IFS= read -r path; do
    rm -rf -- "$path" || trouble "cannot remove $path"
done <"$KEPT.shadows"
while IFS= read -r path; do
    if [ -e "$KEPT/$path" ] || [ -L "$KEPT/$path" ]; then
        mkdir -p -- "$(dirname -- "$path")" && cp -a -- "$KEPT/$path" "$path" || trouble "cannot restore $path"
    fi
done <$GIVEN/protected

while IFS= read -r path; do
    case $path in
        *[*?]*) find . -path ./.git -prune -o -path "./$path" -exec rm -rf -- {{}} + || trouble "cannot remove $path" ;;
        *) rm -rf -- "$path" || trouble "cannot remove $path" ;;
    esac
done <$GIVEN/reports

apply $GIVEN/tests.patch {Exit.TEST_PATCH_FAILED}
number=0
while IFS= read -r path; do
    number=$((number + 1))
    put "$GIVEN/test-$number" "$path"
done <$GIVEN/tests
number=0
while IFS= read -r path; do
    number=$((number + 1))
    [ ! -f "$path" ] || cat <"$path" >{MADE}/source-$number || trouble "no room"
done <$GIVEN/sources
rm -rf "$KEPT" "$KEPT".said "$KEPT".mark "$KEPT".shadows "$KEPT".modules "$KEPT".packages
"""


def tests_script(command: str, environment: Mapping[str, str], arguments: Sequence[str]) -> str:
    """The script that runs the tests."""
    exports = [f"export {name}={shlex.quote(value)}" for name, value in environment.items()]
    return "\n".join([*exports, " ".join([command, *map(shlex.quote, arguments)]), ""])


def run_command(mark: str, base_commit: str) -> tuple[str, ...]:
    """What prepares the repository, writes a line with the mark and the exit code of that, and runs the tests if it is 0."""
    return "sh", "-c", _RUN, "sh", mark, base_commit


_RUN: Final = f"""sh {GIVEN}/prepare.sh "$2"
code=$?
echo "$1 $code"
[ $code = {Exit.DONE} ] || exit 0
command -v bash >/dev/null && exec bash {GIVEN}/tests.sh
exec sh {GIVEN}/tests.sh"""
