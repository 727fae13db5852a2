"""An example of a Scrapy project's settings with simcrawl in it. Every setting is shown with its default.

Commented out is what is off by default, and what comes with the recipe: there the values are those of "content".

`scrapy.cfg` beside this file points here, so that `scrapy crawl demo` and `scrapy crawl site -a url=...` work in a clone.
"""

BOT_NAME = "simcrawl-example"
USER_AGENT = "simcrawl-example (+https://pypi.org/project/simcrawl/)"
SPIDER_MODULES = ["simcrawl.crawl.spiders"]
ROBOTSTXT_OBEY = True

# The one line that switches simcrawl on.
ADDONS = {"simcrawl.Addon": 500}

# False switches simcrawl off.
SIMCRAWL_ENABLED = True
# Where the store is: a directory (a relative one is below .scrapy/, as HTTPCACHE_DIR; ~ is your home), lmdb:///absolute/path, memory:, or
# redis://host/0.
SIMCRAWL_STORE = "simcrawl"
# Who may use the files of a new store, as octal text: "0600", the user who made it; "0660", their group, too.
SIMCRAWL_STORE_MODE = "0600"
# What happens to a copy: "drop" (its items, and its outlinks as SIMCRAWL_OUTLINKS says); "drop-items" (outlinks are always followed);
# "drop-links" (items kept, links as SIMCRAWL_OUTLINKS says); "observe" (only count and record).
SIMCRAWL_ACTION = "drop"
# Differing fingerprint bits up to which a stored page is a candidate.
# SIMCRAWL_MAX_DISTANCE = 7
# How similar the contents must be (0 to 1, estimated) for a candidate to be a near-duplicate; 0 switches verification off.
# SIMCRAWL_MIN_SIMILARITY = 0.93
# Which pages can be an original: "all", or only those of the same "site" (registrable domain; for an IP address or localhost, the host).
SIMCRAWL_SCOPE = "all"
# Hosts whose pages are never dropped in favour of a page of a host that is not in the list; a list, or names with commas between them.
SIMCRAWL_TRUSTED_HOSTS = ()
# From which crawl an original may come: "crawl", this one (or a page that was loaded); "store", any that the store knows: then what an
# earlier crawl had at another address does not come out again.
SIMCRAWL_ORIGINALS = "crawl"
# A name: processes and spiders with the same name and store are one crawl, as long as one of them runs.
# SIMCRAWL_CRAWL = "nightly"
# Forget all that the store holds before the crawl begins.
SIMCRAWL_RESET = False
# How many pages of a cluster are kept, the first ones.
SIMCRAWL_COPIES_KEPT = 1
# Which of several copies is kept: by default the one that comes first; "canonical": the one that others name as canonical, for which they
# wait some seconds (where none is named: https rather than http, the shorter URL rather than the longer).
# SIMCRAWL_PREFER = "canonical"
# What happens to the outlinks of a dropped page: "follow", all are followed; "drop", none is, as in the paper; a similarity, they are
# dropped where the pages are at least so similar and link to the same addresses (1.0: where the text is identical).
# SIMCRAWL_OUTLINKS = "follow"
# Requests for likely copies are made after others; False: in Scrapy's order, and none is skipped.
SIMCRAWL_ORDER = True
# How likely a page must be a copy, by a cautious estimate, for its request not to be made: a number from 0.5 to 1, or False to make all
# requests.
SIMCRAWL_SKIP = 0.95
# Hosts with the same pages, a list, or names with commas between them: rules about URLs that lead from one of them to another may skip
# requests, as rules within one host do.
SIMCRAWL_MIRRORS = ()
# Names of query parameters whose values are secret, a list, or names with commas between them: wherever a URL is stored or shown, a keyed
# digest stands in their place.
SIMCRAWL_REDACT = ()
# How pages become fingerprints: "auto" (as the store was made, "content" for a new one), "content", "main" (the same with the fingerprint
# of trafilatura's main text), "manku2007" (the paper's plain rule), "resiliparse" (by that library's main text alone; needs the extra
# fast), "terms" ("content" with features by which unrelated pages lie far apart), "layout", or a dotted path to a simcrawl.Recipe.
SIMCRAWL_RECIPE = "auto"
# Dotted path to a callable (body: bytes, encoding: str, url: str) -> str that returns the main text; pages are then compared by it alone.
# SIMCRAWL_EXTRACTOR = "simcrawl.page.extraction.main_text"
# Shorter pages, by words (or characters of scripts without spaces), are compared as exact copies only.
# SIMCRAWL_MIN_FEATURES = 50
# How many words (or characters of scripts without spaces) must stand around an article, on one of two pages, for equal prose alone to make
# a copy; 0: it does not matter how many.
# SIMCRAWL_MIN_AROUND = 120
# Larger pages are not compared, and kept: too_large.
SIMCRAWL_MAX_PAGE_BYTES = 4_000_000
# Pages that take longer are not compared, and kept: too_slow.
SIMCRAWL_MAX_PAGE_SECONDS = 10.0
# Worker seconds that a page of one host may take on average, where other hosts are crawled, too; of a host that takes more, some pages are
# not compared, and kept: host_over_budget.
SIMCRAWL_MAX_HOST_SECONDS = 0.25
# A page that has waited so long for a free worker process is not compared, and kept: waited_too_long.
SIMCRAWL_MAX_WAIT_SECONDS = 60.0
# Pages that no crawl has seen for so many days are forgotten; 0: never.
SIMCRAWL_EXPIRE_DAYS = 0
# Worker processes for pages: a number, 0 for threads, or "auto".
SIMCRAWL_WORKERS = "auto"
# Memory of a worker process: a page that needs more is not compared, and kept: out_of_memory.
SIMCRAWL_MAX_WORKER_BYTES = 1_000_000_000
# Seconds between two commits, at least: confirmed pages are written and synced together.
SIMCRAWL_SYNC_SECONDS = 1.0
# When a page counts as stored: only when its items are in the feed's file, so that after a hard kill none of its copies is dropped for it
# in vain. "auto": where that can be done (plain local files); True: the same, and a warning where it cannot; False: when its items have
# left the pipelines.
SIMCRAWL_DURABLE_FEED = "auto"
# Name of a text field: items whose text is a near-duplicate of that of an earlier item of this crawl are dropped.
# SIMCRAWL_ITEM_FIELD = "text"
# Keep the content of pages and of their near-duplicates in the store, compressed, so that simcrawl report shows what differs: "auto" (20 MB
# in all, in a store on this machine's disk), True (100 MB), False, or how many bytes in all.
SIMCRAWL_KEEP_TEXT = "auto"
# A file with one URL a line, as simcrawl duplicates --urls prints them: any spider starts from these instead of its own start requests, and
# keeps their pages, whatever they are copies of.
# SIMCRAWL_RECRAWL = "dropped.txt"
# Log every drop at INFO, not only the first.
SIMCRAWL_DEBUG = False
