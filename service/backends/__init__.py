"""The resources of verdicts outside this process: boxes for programs, and judge models."""
