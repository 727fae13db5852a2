"""Spidermon over simcrawl's stats: `pip install spidermon`."""

SPIDER_MODULES = ["simcrawl.crawl.spiders"]
ADDONS = {"simcrawl.Addon": 500}
# So that the example comes out the same every time. Leave it out.
CONCURRENT_REQUESTS = 1
EXTENSIONS = {"spidermon.contrib.scrapy.extensions.Spidermon": 500}

SPIDERMON_ENABLED = True
# When the stats are complete: those of the store are set as the spider closes.
SPIDERMON_ENGINE_STOP_MONITORS = ["monitors.DuplicatesSuite"]
SPIDERMON_MAX_DUPLICATES = 0.8
