"""Earlier names of the same modules."""
