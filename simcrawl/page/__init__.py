"""A page: from the bytes that came to its fingerprint. `simcrawl.page.fingerprint` is the door."""
