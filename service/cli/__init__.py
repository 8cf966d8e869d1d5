"""The command line. Each command of more than a few lines has a module; `main` has the others."""
