"""The cache of earlier verdicts, by key: in memory first, then in Redis."""
