"""Erlang: a module with `main/0` or `main/1`, or an escript.

The compiler needs a module in a file of its name, so the text is first renamed after its `-module`. A text without that
line is an escript, and becomes the module `main`.
"""

from typing import Final

from sandbox.languages import Language

_COMPILE: Final = r"""
name=$(sed -nE 's/^-module\( *([a-z][A-Za-z0-9_@]*) *\).*/\1/p' main.erl | head -n 1)
if [ -z "$name" ]; then
    name=main
    { printf -- '-module(main).\n-compile([export_all,nowarn_export_all]).\n'; sed '/^#!/d' main.erl; } > text &&
        mv text main.erl
elif [ "$name" != main ]; then
    mv main.erl "$name.erl"
fi
mkdir beams && erlc -W0 +export_all -o beams "$name.erl" >&2 || exit
cat > start << END
    code:ensure_loaded($name),
    try
        case erlang:function_exported($name, main, 0) of true -> $name:main(); false -> $name:main([]) end
    of _ -> halt(0)
    catch Class:Reason:Stack -> io:format(standard_error, "~p:~p~n~p~n", [Class, Reason, Stack]), halt(1) end.
END
"""

LANGUAGE = Language(
    name="erlang",
    aliases=("erl",),
    source_file="main.erl",
    compile=("sh", "-c", _COMPILE),
    keep=("beams/*", "start"),
    run=("sh", "-c", 'exec erl -noshell +S 1:1 +A 1 -pa "$0/beams" -eval "$(cat "$0/start")"', "{program}"),
    needs=("erl", "erlc"),
    version=("erl", "-noshell", "-eval", 'io:format("Erlang/OTP ~s~n", [erlang:system_info(otp_release)]), halt().'),
    # Tests include EUnit's header.
    packages=("erlang-base", "erlang-dev", "erlang-eunit"),
    environment={"ERL_CRASH_DUMP_SECONDS": "0"},
    data_limit=False,
    handles_children=True,
    cpu_factor=1.5,
    start_cpu_s=0.3,
)
