"""What verdicts need beside this process: boxes for programs, and judge models."""
