"""Exact Hamming search over fingerprints. Nothing here knows of pages."""
