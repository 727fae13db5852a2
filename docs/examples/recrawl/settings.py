"""A site that is crawled again and again: each crawl gives what is new or has changed."""

SPIDER_MODULES = ["spiders"]
ADDONS = {"simcrawl.Addon": 500}
# So that the example comes out the same every time. Leave it out.
CONCURRENT_REQUESTS = 1

# Persistent, which is the default: below .scrapy/ beside this project.
SIMCRAWL_STORE = "recrawl"
# What an earlier crawl had at another address does not come out again.
SIMCRAWL_ORIGINALS = "store"
