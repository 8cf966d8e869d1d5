"""What tenants and their runs have used, and whether that is more than they may."""
