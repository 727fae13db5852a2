"""The command line, one file a group of commands. What they do besides printing is in `simcrawl.tools`.

program    puts them together; stats, query, verify and the like
dropped    what a crawl dropped: duplicates, clusters, hosts, reject
compare    two pages
rethink    what other thresholds would have done
rules      what a store teaches of URLs
bulk       many at once: batch, load, export, import
report     the report
watch      crawls while they run
pages      where commands get pages from
output     how they print
"""

from __future__ import annotations

from simcrawl.cli.output import IN_PROJECT
from simcrawl.cli.program import cli, main, run, store_commands

__all__ = ["IN_PROJECT", "cli", "main", "run", "store_commands"]
