"""News in Chinese: the same article stands in several channels, among other menus, teasers and dates."""

SPIDER_MODULES = ["spiders"]
ADDONS = {"simcrawl.Addon": 500}
# So that the example comes out the same every time. Leave it out.
CONCURRENT_REQUESTS = 1

# Channels of one newspaper may share articles; two newspapers that print one agency's report are two sources.
SIMCRAWL_SCOPE = "site"
# A story that comes back after a month is a new one.
SIMCRAWL_EXPIRE_DAYS = 30
# Articles, not the lists of them, come out; their links lead to what channels have of their own.
SIMCRAWL_ACTION = "drop-items"
