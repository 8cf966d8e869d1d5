"""The audit of a data set before training: it finds rows that cannot be judged by their recipe."""
