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
# Where pages are remembered: a directory (a relative one is below .scrapy/, as HTTPCACHE_DIR; ~ is your home), lmdb:///absolute/path,
# memory:, or redis://host/0.
SIMCRAWL_STORE = "simcrawl"
# Who may use the files of a new store, as octal text: "0600", the user who made it, or such as "0660", their group, too.
SIMCRAWL_STORE_MODE = "0600"
# What happens to a copy: "drop" (its items, and its outlinks as SIMCRAWL_OUTLINKS says); "drop-items" (outlinks are always followed);
# "drop-links" (items kept, links as SIMCRAWL_OUTLINKS says); "observe" (only count and record).
SIMCRAWL_ACTION = "drop"
# Differing fingerprint bits up to which a stored page is a candidate.
# SIMCRAWL_MAX_DISTANCE = 7
# Estimated similarity of the contents from which a candidate is a near-duplicate; 0 switches verification off.
# SIMCRAWL_MIN_SIMILARITY = 0.93
# Which pages can be an original: "all", or those of the same "site" (registrable domain; of an address or localhost, the host).
SIMCRAWL_SCOPE = "all"
# Hosts whose pages are never dropped in favour of a page of another host that is not in the list, as a list or with commas between them.
SIMCRAWL_TRUSTED_HOSTS = ()
# Which crawl an original must be of: "crawl", of this one (and pages that were loaded); "store", of any that the store knows: then only
# what no crawl ever had comes out.
SIMCRAWL_ORIGINALS = "crawl"
# A name: processes and spiders with the same name and store share one crawl as long as one of them lives.
# SIMCRAWL_CRAWL = "nightly"
# Forget all that the store holds before the crawl begins.
SIMCRAWL_RESET = False
# The first so many pages of a cluster are kept.
SIMCRAWL_COPIES_KEPT = 1
# Which of several copies is kept: by default the one that comes first; "canonical": the one that others name as canonical, for which they
# wait some seconds (without a name: https rather than http, the shorter URL rather than the longer).
# SIMCRAWL_PREFER = "canonical"
# Outlinks of a dropped page: "follow" all; 1.0: drop them where the text is identical and its links lead to the same addresses, queries
# included; a lower similarity: from there on, with the same links; "drop" all, as the paper.
# SIMCRAWL_OUTLINKS = "follow"
# Requests that are likely copies are made after others; False: as Scrapy has them, and none is skipped.
SIMCRAWL_ORDER = True
# From which cautious estimate on a request is left out, since its page would be a copy: a number from 0.5 to 1, or False to make all of
# them.
SIMCRAWL_SKIP = 0.95
# Hosts with equal pages, as a list or with commas between them: requests for pages of one are left out in favour of pages of another one as
# within one host.
SIMCRAWL_MIRRORS = ()
# Names of query parameters whose values are secret, as a list or with commas between them: a keyed digest stands in their place wherever a
# URL is stored or shown.
SIMCRAWL_REDACT = ()
# How pages become fingerprints: "auto" (as the store was made, "content" for a new one), "content", "main" (the same with the fingerprint
# of trafilatura's main text), "manku2007" (the paper's plain rule), "resiliparse" (by that library's main text alone; needs the extra
# fast), "terms" ("content" with features by which unrelated pages lie far apart), "layout", or a dotted path to a simcrawl.Recipe.
SIMCRAWL_RECIPE = "auto"
# Dotted path to a callable (body: bytes, encoding: str, url: str) -> str that gives the main text; pages are then compared by it alone.
# SIMCRAWL_EXTRACTOR = "simcrawl.page.extraction.main_text"
# Pages of fewer words (or unspaced characters) are compared as exact copies only.
# SIMCRAWL_MIN_FEATURES = 50
# Words (or unspaced characters) around an article, on one of two pages, from which equal prose alone makes a copy; 0: always.
# SIMCRAWL_MIN_AROUND = 120
# Larger pages pass, as too_large.
SIMCRAWL_MAX_PAGE_BYTES = 4_000_000
# Slower pages pass, as too_slow.
SIMCRAWL_MAX_PAGE_SECONDS = 10.0
# Worker seconds that the pages of one host may take on average, beside five to begin with, where others are crawled, too: more of its pages
# pass, as host_over_budget.
SIMCRAWL_MAX_HOST_SECONDS = 0.25
# A page that has waited for a free worker process for so long passes, as waited_too_long.
SIMCRAWL_MAX_WAIT_SECONDS = 60.0
# Pages not seen for so many days are forgotten; 0: never.
SIMCRAWL_EXPIRE_DAYS = 0
# Worker processes for pages: a number, 0 for threads, or "auto".
SIMCRAWL_WORKERS = "auto"
# Memory of a worker process: a page that needs more passes, as out_of_memory.
SIMCRAWL_MAX_WORKER_BYTES = 1_000_000_000
# Confirmed pages are written and synced in one transaction at most this often.
SIMCRAWL_SYNC_SECONDS = 1.0
# A page is confirmed only when its items have been flushed to the feed's file, so that a hard kill loses nothing that its copies could have
# brought back: "auto" where that can be done (plain local files), True (the same, and a warning where it cannot), False (when its items
# have left the pipelines).
SIMCRAWL_DURABLE_FEED = "auto"
# Name of a text field: items whose text is a near-duplicate of an earlier item's of this crawl are dropped.
# SIMCRAWL_ITEM_FIELD = "text"
# Keep the content of pages and of their near-duplicates in the store, compressed, for simcrawl report to show what differs: True (100 MB in
# all), or how many bytes in all.
SIMCRAWL_KEEP_TEXT = False
# A file with one URL a line, such as simcrawl duplicates --urls prints: any spider starts from these instead of its own start requests, and
# their pages are kept whatever they are copies of.
# SIMCRAWL_RECRAWL = "dropped.txt"
# Log every drop at INFO, not only the first.
SIMCRAWL_DEBUG = False
