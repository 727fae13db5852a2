"""A project in a container: nothing is written beside it."""

import os

SPIDER_MODULES = ["simcrawl.crawl.spiders"]
ADDONS = {"simcrawl.Addon": 500}

# The volume. A relative path would be below the project's directory, which is part of the image.
CRAWLS = os.environ.get("CRAWLS", "/var/lib/crawls")
SIMCRAWL_STORE = f"{CRAWLS}/simcrawl"
FEEDS = {f"{CRAWLS}/%(name)s.jsonl": {"format": "jsonlines"}}
