"""State that lasts longer than one request: records with versions, in Redis or in memory, and the Redis client."""
