"""Measurements behind the claims of README and docs; each module says what it measures and what it leaves out."""
