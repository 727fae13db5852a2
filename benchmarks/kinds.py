"""What settings do on sites of different kinds: small ones, of real text, with copies as such sites have them.

    python -m benchmarks.kinds

crawls the sites of docs/examples/site.py over HTTP, depth first and one request at a time, and judges each crawl by the contents that the
site itself names. A row with `observe` is a crawl without simcrawl: nothing is dropped.

    fetched            pages
    lost               share of the site's distinct contents of which no item came out
    kept per content   items per content that came out; 1.00: every copy was found
"""

from __future__ import annotations

import json
from collections import Counter
from importlib.util import module_from_spec, spec_from_file_location
from threading import Thread
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.crawl.runner import ROOT, crawl

SITES = ROOT / "docs" / "examples" / "site.py"
SETTINGS: tuple[dict[str, Any], ...] = (
    {"SIMCRAWL_ACTION": "observe"},
    {},
    {"SIMCRAWL_MIN_SIMILARITY": 0.85},
    {"SIMCRAWL_MIN_AROUND": 0},
    {"SIMCRAWL_RECIPE": "manku2007"},
)
KINDS = ("news", "shop", "forum")


def sites() -> Any:
    """Return the module of the example sites, which is in no package."""
    spec = spec_from_file_location("example_sites", SITES)
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def judge(kind: str, settings: dict[str, Any]) -> tuple[int, float, float]:
    """Return the pages that a crawl fetched, the share of contents that it lost, and the items per content that it kept."""
    module = sites()
    with module.server(kind) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        outcome = crawl(
            "tests.crawl.spiders.Labelled",
            f"http://127.0.0.1:{server.server_port}/",
            settings={"CONCURRENT_REQUESTS": 1, "LOG_LEVEL": "ERROR"} | settings,
        )
        server.shutdown()
    contents = {page.content for _, page in module.KINDS[kind]() if page.content}
    kept = Counter(content for content in outcome.stats.get("test/content", []) if content)
    return outcome.stats["response_received_count"], 1 - len(kept) / len(contents), kept.total() / max(1, len(kept))


def main() -> None:
    """Print the table."""
    table = Table("kind", "settings", "fetched", "lost", "kept per content")
    for kind in KINDS:
        for settings in SETTINGS:
            fetched, lost, kept = judge(kind, settings)
            told = ", ".join(f"{name} = {json.dumps(value)}" for name, value in settings.items())
            table.add_row(kind, told or "the defaults", str(fetched), f"{lost:.1%}", f"{kept:.2f}")
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
