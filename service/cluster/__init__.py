"""The engine on Ray. Modules that import Ray are imported by nobody but each other, and when they are used."""
