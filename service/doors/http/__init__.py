"""The HTTP server: its application, what stands before every route, its document and its pages."""
