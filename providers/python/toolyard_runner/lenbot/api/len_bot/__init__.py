"""LenBot's public plugin interface, as Toolyard provides it."""
