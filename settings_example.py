"""An example of a Scrapy project's settings with simcrawl in it. Every setting is shown with its default.

Commented out is what is off by default, and what comes with the recipe: there the values are those of "terms".

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
# Where the store is: a directory (if relative, below .scrapy/, like HTTPCACHE_DIR; ~ is your home), lmdb:///absolute/path, memory:, or
# redis://host/0.
SIMCRAWL_STORE = "simcrawl"
# What happens to a copy. "drop": its items are dropped, and its outlinks as SIMCRAWL_OUTLINKS says; "drop-items": its items are dropped and
# its outlinks followed; "drop-links": its items are kept, its outlinks treated as SIMCRAWL_OUTLINKS says; "observe": copies are only
# counted and recorded.
SIMCRAWL_ACTION = "drop"
# Which pages can be originals: "all", or only those of the same "site" (the registrable domain; for an IP address or localhost, the host).
SIMCRAWL_SCOPE = "all"
# Hosts whose pages are never dropped in favour of a page of a host that is not in the list: a list, or names separated by commas.
SIMCRAWL_TRUSTED_HOSTS = ()
# From which crawl an original may come. "crawl": only from this one (or it was loaded); "store": from any crawl that the store knows, so
# that what an earlier crawl had at another address does not come out again.
SIMCRAWL_ORIGINALS = "crawl"
# A name. Processes and spiders with the same name and store are one crawl, as long as one of them is running.
# SIMCRAWL_CRAWL = "nightly"
# Forget all that the store holds before the crawl begins.
SIMCRAWL_RESET = False
# How many pages of a cluster are kept (the first ones).
SIMCRAWL_COPIES_KEPT = 1
# Which of several copies is kept. By default the one that comes first; "canonical": the one that the others name as canonical, for which
# they wait some seconds (if none is named: https rather than http, and the shorter URL).
# SIMCRAWL_PREFER = "canonical"
# What happens to the outlinks of a dropped page. "follow": all are followed; "drop": none is, as in the paper; a similarity: they are
# dropped if the two pages are at least that similar and link to the same addresses (1.0: if the text is identical).
# SIMCRAWL_OUTLINKS = "follow"
# Requests for likely copies are made after the others, as long as the spider gives no priority below 0; False: all are made, in Scrapy's
# order.
SIMCRAWL_ORDER = True
# How likely a page must be a copy, by a cautious estimate, for its request to be skipped: a number from 0.5 to 1, or False to make all
# requests.
SIMCRAWL_SKIP = 0.95
# Hosts that have the same pages: a list, or names separated by commas. Learned rules that lead from one of them to another may skip
# requests, like rules within one host.
SIMCRAWL_MIRRORS = ()
# Names of query parameters whose values are secret: a list, or names separated by commas. Wherever a URL is stored or shown, a keyed digest
# stands in place of the value.
SIMCRAWL_REDACT = ()
# Pages that no crawl has seen for that many days are forgotten; 0: never.
SIMCRAWL_EXPIRE_DAYS = 0
# Name of a text field; items whose text is a near-duplicate of an earlier item's text in this crawl are dropped.
# SIMCRAWL_ITEM_FIELD = "text"
# Keep the content of pages and of their near-duplicates in the store, compressed, so that simcrawl report shows what differs: "auto" (20 MB
# in all, in a store on this machine's disk), True (100 MB), False, or how many bytes in all.
SIMCRAWL_KEEP_TEXT = "auto"
# A file with one URL per line, such as simcrawl duplicates --urls prints. Any spider then starts from these URLs instead of its own start
# requests, and keeps their pages, whatever they are copies of.
# SIMCRAWL_RECRAWL = "dropped.txt"
# Log every drop at INFO, not only the first.
SIMCRAWL_DEBUG = False

# ---- thresholds and limits

# Who may use the files of a new store, as octal text: "0600", only the user who made it; "0660", their group as well.
SIMCRAWL_STORE_MODE = "0600"
# How many bits of two fingerprints may differ, at most, for the stored page to be a candidate.
# SIMCRAWL_MAX_DISTANCE = 7
# How similar the contents must be (0 to 1, estimated) for a candidate to be a near-duplicate; 0 switches verification off.
# SIMCRAWL_MIN_SIMILARITY = 0.93
# Data that requests carry to their callback (cb_kwargs, and meta but for the settings of components) tell pages apart that are equal: what
# comes of such a page comes of the data, too; False: they do not matter.
SIMCRAWL_CARRIED_DATA = True
# How pages become fingerprints: "auto" (as in the store; in a new one "terms"), "terms", "content" (the same with all words weighing alike
# in the fingerprint), "main" (that with the fingerprint of trafilatura's main text), "manku2007" (the paper's plain rule), "resiliparse"
# (by that library's main text alone; needs the extra fast), "layout", or a dotted path to a simcrawl.Recipe.
SIMCRAWL_RECIPE = "auto"
# Dotted path to a callable (body: bytes, encoding: str, url: str) -> str that returns the main text; pages are then compared by it alone.
# SIMCRAWL_EXTRACTOR = "simcrawl.page.extraction.main_text"
# Pages of fewer words (or characters of scripts without spaces) can only be exact copies.
# SIMCRAWL_MIN_FEATURES = 50
# How many words (or characters of scripts without spaces) must stand around the article on at least one of two pages, so that equal prose
# alone makes them copies; 0: any number will do.
# SIMCRAWL_MIN_AROUND = 120
# Larger pages are kept without being compared: too_large.
SIMCRAWL_MAX_PAGE_BYTES = 4_000_000
# Pages that take longer are kept without being compared: too_slow.
SIMCRAWL_MAX_PAGE_SECONDS = 10.0
# How many worker seconds a page of one host may take on average if other hosts are crawled as well. Some pages of a host that takes more
# are kept without being compared: host_over_budget.
SIMCRAWL_MAX_HOST_SECONDS = 0.25
# A page that has waited that long for a free worker process is kept without being compared: waited_too_long.
SIMCRAWL_MAX_WAIT_SECONDS = 60.0
# Worker processes for pages: a number up to 64, 0 for threads, or "auto".
SIMCRAWL_WORKERS = "auto"
# How much memory a worker process may take; a page that needs more is kept without being compared: out_of_memory.
SIMCRAWL_MAX_WORKER_BYTES = 1_000_000_000
# Least seconds between two commits; confirmed pages are written and synced together.
SIMCRAWL_SYNC_SECONDS = 1.0
# Whether a page counts as stored only when its items are in the feed's file, so that after a hard kill no copy is dropped for a page that
# was lost. "auto": if that is possible (plain local files); True: the same, with a warning if it is not; False: a page counts when its
# items have left the pipelines.
SIMCRAWL_DURABLE_FEED = "auto"
