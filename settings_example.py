"""An example of a Scrapy project's settings with simcrawl in it. Every setting is shown with its default.

`scrapy.cfg` beside this file points here, so that `scrapy crawl demo` and `scrapy crawl site -a url=...` work in a clone.
"""

BOT_NAME = "simcrawl-example"
USER_AGENT = "simcrawl-example (+https://pypi.org/project/simcrawl/)"
SPIDER_MODULES = ["simcrawl.crawl.spiders"]
ROBOTSTXT_OBEY = True

# The one line that switches simcrawl on.
ADDONS = {"simcrawl.Addon": 500}

SIMCRAWL_ENABLED = True
# Where pages are remembered: a directory (below .scrapy/ where relative), lmdb:///absolute/path, or memory:
SIMCRAWL_STORE = "simcrawl"
# What happens to a copy: "drop" (its items, and its links if SIMCRAWL_OUTLINKS says so), "drop-items" (links are always followed),
# "drop-links" (only its links, if SIMCRAWL_OUTLINKS says so), or "observe" (only count and record).
SIMCRAWL_ACTION = "drop"
# Which pages can be an original: "all", or those of the same "site" (registrable domain).
SIMCRAWL_SCOPE = "all"
# Which crawl an original must be of: "crawl": this one; "store": any that the store knows, so that only what no crawl ever had comes out.
SIMCRAWL_ORIGINALS = "crawl"
# Spiders and processes that name the same crawl share one, as long as one of them runs.
# SIMCRAWL_CRAWL = "nightly"
# Forget all that the store holds before the crawl begins.
SIMCRAWL_RESET = False
# How many pages of a cluster are kept.
SIMCRAWL_COPIES_KEPT = 1
# How pages become fingerprints: "auto", "content", "main", "manku2007" (the paper's plain rule), "resiliparse",
# "layout", or a dotted path.
SIMCRAWL_RECIPE = "auto"

# These come with the recipe; the values shown are those of "content".
# SIMCRAWL_MAX_DISTANCE = 7        # differing bits of the 64 up to which a stored page is a candidate
# SIMCRAWL_MIN_SIMILARITY = 0.93   # estimated similarity from which a candidate is a near-duplicate; 0: no verification
# SIMCRAWL_OUTLINKS = "follow"     # all links of a copy; "drop": none; a similarity: from there on none, if they lead to the same addresses
# SIMCRAWL_MIN_FEATURES = 50       # pages with fewer words are compared as exact copies only
# SIMCRAWL_MIN_AROUND = 120        # words around an article from which its prose alone can make it a copy
# SIMCRAWL_EXTRACTOR = "simcrawl.extraction.main_text"

SIMCRAWL_MAX_PAGE_BYTES = 4_000_000
SIMCRAWL_MAX_PAGE_SECONDS = 10.0
# Pages not seen for so many days are no originals any more; 0: never.
SIMCRAWL_EXPIRE_DAYS = 0
# Worker processes for pages: a number, 0 for threads, or "auto".
SIMCRAWL_WORKERS = "auto"
SIMCRAWL_MAX_WORKER_BYTES = 1_000_000_000
SIMCRAWL_SYNC_SECONDS = 1.0
# A page counts as stored only when its items are in the feed's file, not in a buffer that a hard kill would take along:
# "auto" where that can be done (plain local files), True (the same, and a warning where it cannot), False.
SIMCRAWL_DURABLE_FEED = "auto"
# Name of a text field: near-duplicate items are dropped too.
# SIMCRAWL_ITEM_FIELD = "text"
# Keep the texts of pages, compressed, so that `simcrawl report` shows what differs: True (up to 100 MB of them), or a number of bytes.
SIMCRAWL_KEEP_TEXT = False
# Starts any spider from the URLs in a file (one a line, as `simcrawl duplicates --urls` prints) and keeps their pages.
# SIMCRAWL_RECRAWL = "dropped.txt"
# Every drop in the log at INFO, not only the first. How far a crawl is stands there every LOGSTATS_INTERVAL seconds.
SIMCRAWL_DEBUG = False
