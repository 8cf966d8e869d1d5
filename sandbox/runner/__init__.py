"""The runner: the code that works inside a box, see `sandbox.runner.zygote`.

Its dataclasses have no generated comparison and repr methods: they are never called, and generating them would take a
fifth of each box's start.
"""
