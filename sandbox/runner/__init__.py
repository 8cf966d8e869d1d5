"""What works in a box, see `sandbox.runner.zygote`.

Its records have no methods to compare and to print them: nobody calls those, and each box would spend a fifth of its
start on making them.
"""
