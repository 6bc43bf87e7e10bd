"""Earlier place of the message types."""
