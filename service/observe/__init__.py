"""What operators see of the service: logs, metrics, traces, the audit log, readiness and load."""
