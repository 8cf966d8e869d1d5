"""One process that serves: built from the settings, reloaded, drained and taken down."""
