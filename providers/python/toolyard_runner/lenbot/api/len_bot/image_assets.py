"""Limits of pictures."""

MAX_IMAGE_BYTES = 20 << 20
