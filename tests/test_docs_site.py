"""The site that is made of the documentation: it builds without a warning, is whole in itself, and asks no other host for anything."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from lxml import html

from tests.browser import UnavailableError, open_browser

DOCS = Path(__file__).parents[1] / "docs"
# What a browser fetches by itself; other addresses are links, which a reader follows or not.
FETCHED = "//script/@src | //link[not(@rel='canonical')]/@href | //img/@src | //source/@srcset | //iframe/@src | //object/@data"

DRAWN = "[...document.images].filter(image => image.alt).map(image => image.complete && image.naturalWidth > 0)"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of the built site."""
    directory = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-E", "-d", str(directory / "trees")]
    outcome = subprocess.run([*command, str(DOCS), str(directory / "html")], capture_output=True, text=True, check=False)
    assert not outcome.returncode, outcome.stderr
    return directory / "html"


def _pages(built: Path) -> dict[Path, html.HtmlElement]:
    return {page: html.document_fromstring(page.read_bytes()) for page in sorted(built.rglob("*.html"))}


def test_every_link_within_the_site_leads_somewhere(built: Path) -> None:
    pages = _pages(built)
    anchors = {page: {*tree.xpath("//@id"), *tree.xpath("//a/@name"), ""} for page, tree in pages.items()}
    wrong = []
    for page, tree in pages.items():
        for link in {*tree.xpath("//a/@href"), *tree.xpath(FETCHED)}:
            address, anchor = urldefrag(link)
            if urlsplit(address).scheme:
                continue
            target = (page.parent / unquote(urlsplit(address).path)).resolve() if address else page
            if not target.exists() or (target in anchors and unquote(anchor) not in anchors[target]):
                wrong.append((str(page.relative_to(built)), link))
    assert len(pages) > 20
    assert wrong == []


def test_nothing_is_asked_of_other_hosts(built: Path) -> None:
    for page, tree in _pages(built).items():
        assert [address for address in tree.xpath(FETCHED) if urlsplit(address).netloc] == [], page
    for style in built.rglob("*.css"):
        found = re.findall(r"""(?:url\(|@import)\s*["']?([^"')\s]+)""", style.read_text())
        assert [address for address in found if urlsplit(address).netloc] == [], style


@pytest.mark.parametrize("width", [1400, 400])
def test_a_browser_shows_the_start_page_and_its_picture(built: Path, width: int) -> None:
    try:
        with open_browser() as browser, browser.open(built / "index.html", width=width) as tab:
            assert tab.run(DRAWN) == [True]
            # On a phone too nothing has to be pushed aside.
            assert tab.run("document.documentElement.scrollWidth <= innerWidth")
            assert tab.complaints == []
            assert [address for address in tab.requests if urlsplit(address).scheme not in {"file", "data"}] == []
    except UnavailableError as exc:
        pytest.skip(f"the site is looked at in a browser: this {exc}")
