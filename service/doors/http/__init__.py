"""The HTTP server: its application, the steps before every route, its OpenAPI document and its pages."""
