"""What a store was made with, once and for all."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simcrawl.errors import SettingError, StoreMismatchError
from simcrawl.index.permutations import DEFAULT as DEFAULT_DESIGN, design as design_by_name
from simcrawl.page.fingerprint import PageFingerprint
from simcrawl.page.recipes import RECIPES

if TYPE_CHECKING:
    from pathlib import Path

    from simcrawl.index.permutations import Design
    from simcrawl.page.fingerprint import Abstention


@dataclass(frozen=True, slots=True)
class Header:
    """What a store was made with. `recipe` is None until the first page or detector binds it; no message has the `seed`."""

    bits: int = 64
    design: str = DEFAULT_DESIGN
    seed: int = field(default=0, repr=False)
    recipe: str | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot work, before anything is written."""
        design_by_name(self.design, self.bits)
        if not 0 <= self.seed < 1 << 64:
            raise SettingError(f"seed must be from 0 to 2**64 - 1, got {self.seed}")

    @property
    def design_of_tables(self) -> Design:
        """The design that the name means."""
        return design_by_name(self.design, self.bits)

    @classmethod
    def new(cls, *, bits: int | None, design: str | None, seed: int | str | None) -> Header:
        """Return the header of a store that is yet to be made; None for a default, seed "random" for one of its own."""
        if isinstance(seed, str):
            if seed != "random":
                raise SettingError(f"seed must be a number or 'random', got {seed!r}")
            seed = secrets.randbits(64)
        return cls(bits=64 if bits is None else bits, design=DEFAULT_DESIGN if design is None else design, seed=seed or 0)

    def check_page(self, page: PageFingerprint | Abstention) -> None:
        """Refuse a page of another width or seed: it would never be found.

        Raises:
            StoreMismatchError: it is one.
        """
        if isinstance(page, PageFingerprint) and page.bits != self.bits:
            raise StoreMismatchError(
                f"the page has a {page.bits}-bit fingerprint, the store holds {self.bits}-bit ones: "
                "use a recipe of that width or another store"
            )
        if page.seed != self.seed:
            raise StoreMismatchError(
                "the page was fingerprinted with another seed than the store's: make it with detector.page(html, url=...), or pass "
                "seed=store.header.seed to fingerprint_page"
            )


def other_recipe(bound: str, identity: str, path: Path | None) -> str:
    """Return what is to be said where a store is bound to another recipe than the one that is to be used, and the cure."""
    (old, _, was), (name, _, now) = bound.partition("/"), identity.partition("/")
    # What is not built in has a name that means nothing to a command.
    named = name if name in RECIPES and now.isdecimal() else "auto"
    cure = f"`simcrawl upgrade {path or 'STORE'} --recipe {named}`, which keeps the register, rejections and history"
    made = f"the store was made with recipe {bound}"
    if old != name or not (was.isdecimal() and now.isdecimal()):
        return f"{made}, not {identity}: use that recipe (SIMCRAWL_RECIPE), another store (SIMCRAWL_STORE), or {cure}"
    if int(was) > int(now):
        return f"{made}, which a newer simcrawl has; this one has {identity}: upgrade simcrawl, or use another store (SIMCRAWL_STORE)"
    return f"{made}, which an older simcrawl had; this one has {identity}: run {cure}, or use another store (SIMCRAWL_STORE)"
