"""The processes of a box: forked, watched, limited and ended."""
