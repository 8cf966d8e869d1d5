"""Where state is kept beyond one request: records with versions, in Redis or in memory, and the client for Redis."""
