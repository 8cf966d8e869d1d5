"""Values that leave a judged program and come back to life elsewhere."""
