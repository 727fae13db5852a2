"""Processes that share their requests by scrapy-redis, and what became of them by simcrawl, over one Redis."""

import os

SPIDER_MODULES = ["spiders"]
ADDONS = {"simcrawl.Addon": 500}

REDIS_URL = os.environ.get("REDIS_URL", "redis://127.0.0.1:6379/0")
SCHEDULER = "scrapy_redis.scheduler.Scheduler"
DUPEFILTER_CLASS = "scrapy_redis.dupefilter.RFPDupeFilter"
# Or the first process to end would empty the queue of the others.
SCHEDULER_PERSIST = True
# A process whose queue is empty waits so many seconds for what others find. Not SCHEDULER_IDLE_BEFORE_CLOSE: that one waits on the event
# loop, and everything else with it.
MAX_IDLE_TIME_BEFORE_CLOSE = int(os.environ.get("IDLE", "30"))

# The same two in every process: one store, one crawl.
SIMCRAWL_STORE = f"{REDIS_URL}?name=manual"
SIMCRAWL_CRAWL = "tonight"
