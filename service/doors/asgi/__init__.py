"""The steps that every HTTP route takes with a request: read its body, and send its answer."""
