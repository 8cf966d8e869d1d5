"""What every HTTP route does with a request: read its body, and send its answer."""
