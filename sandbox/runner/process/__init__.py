"""The processes of a box: forking, watching, limiting and killing them."""
