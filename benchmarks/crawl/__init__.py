"""Crawls, and what a page costs in them."""
