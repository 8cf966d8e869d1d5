"""Before training: what in a data set cannot be judged, by the recipe that will judge it."""
