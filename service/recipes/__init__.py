"""Named compositions of checks, and the tables that say which rows get which."""
