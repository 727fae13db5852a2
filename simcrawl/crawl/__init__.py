"""The Scrapy shell: everything that knows Scrapy, and nothing that decides. Only modules in here import scrapy.

What Scrapy calls:

    addon          puts every component in its place, from one line of settings
    extension      opens the store before the crawl, commits at its pace, closes it
    downloader     a request leaves, a response comes: asks the frontier and the session
    unfetched      a request that is made again: answered by the page that is held
    spider         a callback runs or not: drops what verdicts say, confirms what came out
    items          the item pipeline
    recrawl        start requests for pages that were dropped
    command        `scrapy simcrawl`
    signals        what others can listen to
    exceptions     what is raised for what is dropped
    demo_server    the demonstration site, on loopback

What these share, one session a crawler:

    session        a page on its way: guards, the page, the claim, the verdict, what came of it
    case           a page in flight: its verdict, its claim, how far it has come out
    common         what the parts stand on: settings, stats, the store, where failures are told
    run            this run as part of a crawl, perhaps resumed
    frontier       which request goes back, waits, or is left out
    ├ marks        what is written on a request while it waits
    ├ at_work      what else is at work, and may bring others
    └ askers       which callbacks may be waiting for what they have asked for
    again          pages that were dropped by mistake
    carried        what a request gives its callback besides the page
    preferred      which page waits for its canonical one
    waiting        a copy waits for its original to come out
    patience       how long it does
    places         what waits keeps nothing else from being downloaded
    given          for which callbacks a content has given items
    refused        items that a pipeline refused, or whose files did not come
    elsewhere      which items of a copy say what neither its page nor its original says
    ├ copied       how far the items of one copy have been compared
    ├ page_text    what a copy's page says, and what its readers see of it
    ├ said         what the items of originals said
    ├ written      one form of a value that is written in several ways
    ├ said_file    that, in JOBDIR, while a crawl is stopped
    ├ otherwise    what items of copies say in sight, and no item of the original
    ├ side_by_side whether two addresses are those of two pages of one kind
    ├ moments      whether that is when, and when the page was made
    ├ counters     which of their fields count
    ├ item_values  what an item holds
    ├ field_names  what the names of its fields say
    └ reading      words, numbers and dates, as pages and items write them
    changes        new, changed or unchanged since the last crawl
    feeds          whether a feed has really got an item
    exported       whether a feed could write an item, and be stored
    taken          whether a feed takes an item at all
    no_item_limits items of copies count where Scrapy closes a crawl without items
    links          links that were dropped
    history        what the store remembers of the crawl
    progress       what is told while it runs, and at its end
    watched        what is told to those who watch from another process
    refusal        one line where a crawl cannot begin
    occasion       whether there is a crawl at all, or one of Scrapy's own commands

Where work is done that must not block the event loop:

    workers        makes and claims a page, wherever it is made
    processes      worker processes, shared by all crawlers of a process; the processes themselves are in `simcrawl.workers`
    line           the event loop's end of a socket to one
    threads        threads of our own, and the way back to the event loop
    lag            how late the event loop is

    collector      what the collector of garbage need not look at
    numpy_first    loads numpy so that its threads sleep
"""

from __future__ import annotations

# isort: off
from simcrawl.crawl import numpy_first  # noqa: F401 - first

# isort: on
from simcrawl.crawl import signals
from simcrawl.crawl.addon import Addon
from simcrawl.crawl.case import saved, verdict
from simcrawl.crawl.downloader import NearDuplicateDownloaderMiddleware
from simcrawl.crawl.exceptions import NearDuplicate, NearDuplicateItem
from simcrawl.crawl.extension import SimcrawlExtension
from simcrawl.crawl.items import NearDuplicateItemPipeline
from simcrawl.crawl.recrawl import RecrawlMiddleware, recrawl_requests
from simcrawl.crawl.spider import CallbackWatchMiddleware, NearDuplicateSpiderMiddleware
from simcrawl.crawl.unfetched import HeldPageMiddleware

__all__ = [
    "Addon",
    "CallbackWatchMiddleware",
    "HeldPageMiddleware",
    "NearDuplicate",
    "NearDuplicateDownloaderMiddleware",
    "NearDuplicateItem",
    "NearDuplicateItemPipeline",
    "NearDuplicateSpiderMiddleware",
    "RecrawlMiddleware",
    "SimcrawlExtension",
    "recrawl_requests",
    "saved",
    "signals",
    "verdict",
]
