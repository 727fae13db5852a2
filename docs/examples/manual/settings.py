"""A documentation site: releases that differ in little, translations, and mirrors."""

SPIDER_MODULES = ["simcrawl.crawl.spiders"]
ADDONS = {"simcrawl.Addon": 500}
# So that the example comes out the same every time. Leave it out.
CONCURRENT_REQUESTS = 1

# The defaults are made for such sites: near-copies are dropped, their links followed, for an index of the new release is a near-copy
# of the old one's and leads to the chapters that are new. Breadth first, so that what is linked first is the original.
DEPTH_PRIORITY = 1
SCHEDULER_DISK_QUEUE = "scrapy.squeues.PickleFifoDiskQueue"
SCHEDULER_MEMORY_QUEUE = "scrapy.squeues.FifoMemoryQueue"
