"""The recipe `resiliparse`; what hostile pages do to it is in `test_hostile`."""

from __future__ import annotations

import pytest

from simcrawl.page.fast_extraction import main_text
from simcrawl.page.fingerprint import PageFingerprint, fingerprint_page, fingerprint_text
from tests.samples import chinese, english, link_list, page, site_page


def test_the_main_text_is_without_what_surrounds_it_a_block_a_line():
    comments = f"<div id='comments'><p>{english(5, seed=9)}</p></div>"
    html = site_page(f"<h1>The harbour</h1>{''.join(f'<p>{line}</p>' for line in english(60).splitlines())}{comments}{link_list(3)}")
    lines = main_text(html.encode(), "utf-8", "http://x/").splitlines()
    assert [line for line in lines if line] == ["The harbour", *english(60).splitlines()]


def test_encodings_and_early_ends_are_those_of_the_other_extractor():
    body = page(chinese()).replace("</body></html>", "</body></html><p>Behind an early end</p>").encode("gb18030")
    lines = [line for line in main_text(body, "gb18030", "").splitlines() if line]
    assert lines == [*chinese().splitlines(), "Behind an early end"]


@pytest.mark.parametrize("body", [b"", b"\0", b"<html><body></body></html>", b"<script>x</script>"])
def test_a_page_without_text_has_none(body: bytes):
    assert main_text(body, "utf-8", "") == ""


def test_the_recipe_compares_pages_by_this_text_alone():
    html = site_page(f"<h1>The harbour</h1><p>{english(60)}</p>")
    text = main_text(html.encode(), "utf-8", "")
    made, alone = fingerprint_page(html, recipe="resiliparse"), fingerprint_text(text, recipe="resiliparse")
    assert isinstance(made, PageFingerprint)
    assert isinstance(alone, PageFingerprint)
    assert (made.fingerprint, made.content_sketch, made.units) == (alone.fingerprint, alone.content_sketch, alone.units)
