"""Erlang: a module with `main/0` or `main/1`, or an escript.

The compiler needs a module in a file of its name, so the text is first renamed after its `-module`.
"""

from typing import Final

from sandbox.languages import Language

_COMPILE: Final = r"""
name=$(sed -nE 's/^-module\( *([a-z][A-Za-z0-9_@]*) *\).*/\1/p' main.erl | head -n 1)
if [ -z "$name" ]; then
    name=main
    { printf -- '-module(main).\n-compile([export_all,nowarn_export_all]).\n'; sed '/^#!/d;/^%%!/d' main.erl; } > text && mv text main.erl
elif [ "$name" != main ]; then
    mv main.erl "$name.erl"
fi
erlc -W0 +export_all "$name.erl" >&2 || exit
mkdir -p beams && mv "$name.beam" beams/
printf '%s' "$name" > beams/start
"""

_RUN: Final = """\
exec erl -noshell -noinput +S 1:1 +A 1 -pa "$0/beams" -eval "
    M = list_to_atom(\"$(cat "$0/beams/start")\"),
    code:ensure_loaded(M),
    try
        case erlang:function_exported(M, main, 0) of true -> M:main(); false -> M:main([]) end,
        init:stop(0)
    catch C:R:S -> io:format(standard_error, \"~p:~p~n~p~n\", [C, R, S]), erlang:halt(1) end."
"""

LANGUAGE = Language(
    name="erlang",
    aliases=("erl",),
    source_file="main.erl",
    compile=("sh", "-c", _COMPILE),
    keep=("beams/*",),
    run=("sh", "-c", _RUN, "{program}"),
    needs=("erl", "erlc"),
    packages=("erlang-base", "erlang-dev"),
    data_limit=False,
    handles_children=True,
    cpu_factor=1.5,
    start_cpu_s=0.5,
)
