"""Lua: interpreted. The module `luaunit` is there, which tests of MultiPL-E use."""

from sandbox.languages import Language

LANGUAGE = Language(
    name="lua",
    source_file="main.lua",
    run=("lua", "{program}/main.lua"),
    needs=("lua",),
    version=("lua", "-v"),
    packages=("lua5.4", "lua-unit"),
)
