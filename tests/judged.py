"""Pages to be judged by the rule, made of texts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

import simcrawl
from simcrawl.page.fingerprint import Abstention, PageFingerprint, fingerprint_page
from simcrawl.page.recipes import RECIPES
from simcrawl.page.sketch import pack
from simcrawl.rule import Rule, Verdict
from simcrawl.store import Store, open_store
from tests.samples import edited, english, page

RULE = Rule.of(RECIPES["content"])


TEXT = english(400)


ORIGINAL = "http://example.org/original"


def page_of(html: str, url: str = ORIGINAL) -> PageFingerprint:
    made = fingerprint_page(html, url=url)
    assert isinstance(made, PageFingerprint)
    return made


def full_sketch(registers: int, *, empty: int = 0, size: int = 0) -> bytes:
    """Return a sketch with so many registers that are filled, the first of them emptied."""
    return pack(np.array([0] * empty + [1] * (registers - empty) + [0] * (max(size, registers) - registers), np.uint8))


BASE = replace(page_of(page(TEXT)), content_sketch=full_sketch(512))


def like(number: int, *, bits: int = 0, registers: int = 0, url: str = "") -> PageFingerprint:
    """Return another page that differs from `BASE` in so many bits of the fingerprint and of 512 registers of the content's sketch.

    Its prose is the base's, but neither has anything around it: content alone decides.
    """
    unlike = number.to_bytes(16, "big")
    return replace(
        BASE,
        url=url or f"http://example.org/{number}",
        fingerprint=BASE.fingerprint ^ (1 << bits) - 1,
        content_sketch=full_sketch(512, empty=registers),
        body_digest=unlike,
        text_digest=unlike,
    )


def store_of(*pages: PageFingerprint | Abstention) -> Store:
    """Return a store that has the pages, whether they are copies or not."""
    store = open_store("memory:")
    for stored in pages:
        claim = store.claim(stored, RULE, never_drop=True).claim
        assert claim
        claim.confirm()
    return store


def Detector(store: Store, **options: Any) -> simcrawl.Detector:  # noqa: N802 - as the one that it makes
    """Return a detector for which every page of the store can be an original: which of them are in its crawl is no rule's concern."""
    return simcrawl.Detector(store, originals="store", **options)


def judge(stored: PageFingerprint | Abstention, asked: PageFingerprint | Abstention, **options: Any) -> Verdict:
    return Detector(store_of(stored), **options).admit(asked)


def in_paragraphs(text: str) -> str:
    return "".join(f"<p>{line}</p>" for line in text.splitlines())


def commit_page(message: str, path: str) -> PageFingerprint | Abstention:
    lines = english(200).splitlines()
    about = "".join(f"<p>{line}</p>" for line in english(12, seed=9).splitlines()) if message else ""
    body = f"<div>{message}{about}</div><div>{''.join(f'<p>{line}</p>' for line in lines)}</div>"
    return fingerprint_page(f"<html><head><title>A project</title></head><body>{body}</body></html>", url=f"http://a.test/{path}")


def with_more(path: str, more: str = "", *, edited_words: int = 0) -> PageFingerprint:
    text = edited(english(150), edited_words) if edited_words else english(150)
    return page_of(page(f"{text}\n{more}" if more else text), path)


def noted(path: str, *lines: str, text: str = english(20)) -> PageFingerprint:
    rows = "".join(f"<tr><td>{line}</td></tr>" for line in lines)
    paragraphs = "".join(f"<p>{line}</p>" for line in text.splitlines())
    html = f"<html><head><title>Lots</title></head><body><h1>Lots</h1><table>{rows}</table>{paragraphs}</body></html>"
    return page_of(html, f"http://a.test/lots?{path}")


NAMES = (
    "Ann",
    "Bo",
    "Cy",
    "Dee",
    "Eli",
    "Fay",
    "Gus",
    "Hal",
    "Ivy",
    "Jo",
    "Kim",
    "Lou",
    "Mo",
    "Nan",
    "Ona",
    "Pat",
    "Ray",
    "Sue",
    "Tom",
    "Una",
)


def told(body: str, url: str, *, title: str = "Records", head: str = "") -> PageFingerprint:
    made = fingerprint_page(f"<html><head><title>{title}</title>{head}</head><body><main>{body}</main></body></html>", url=url)
    assert isinstance(made, PageFingerprint)
    return made


SHARED = "".join(f"<p>{line}, and so on and so forth until the line is as long as one</p>" for line in english(45).splitlines())
