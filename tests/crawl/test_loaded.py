"""A crawl beside a corpus that was loaded into its store before."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from simcrawl.cli import run
from tests.crawl.content import page
from tests.crawl.runner import crawl
from tests.crawl.test_crawl import IN_ORDER, copies

if TYPE_CHECKING:
    from pathlib import Path

    from tests.crawl.server import Site


def test_copies_of_loaded_pages_are_dropped(site: Site, tmp_path: Path) -> None:
    copies(site)
    corpus, store = tmp_path / "corpus.jsonl", str(tmp_path / "store")
    corpus.write_text(json.dumps({"url": "http://archive.test/autotext", "html": page("7.4/en/autotext", note=" (archived)")}))
    assert run(["load", store, str(corpus), "--workers", "0"]) == 0
    outcome = crawl("Plain", site.url(), settings=IN_ORDER | {"SIMCRAWL_STORE": store})
    assert {("/other", "/autotext"), ("/second", "/first")} <= set(outcome.paths("dropped"))
