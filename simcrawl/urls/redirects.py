"""Redirects of a site as rules: which URLs lead to pages that were kept. They order requests, and let none be skipped.

redirect ──► Redirects.learn, the second time that it leads to another page ──► replacements of their own
redirect, page that was fetched ──► Redirects.led, fetched ──► how often such a redirect led there
URL ──► Redirects.lead ──► whether it comes later
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from simcrawl.urls.evidence import KEPT, Counters, lower_bound
from simcrawl.urls.replacements import Replacements, difference

if TYPE_CHECKING:
    from simcrawl.urls.evidence import Twin

_MOST_RULES, _MOST_KINDS = 50, 4096
# From which lower bound on so many redirects lead where a rule does that others of the kind come later.
_LEADS = 0.5


class Redirects:
    """Where URLs lead by redirects: for the order of requests alone.

    A redirect says nothing of contents. Before a log-in all pages lead to one form, or each to a form of its own, and pages that are gone
    lead to the home page. So these rules, and what speaks for them, are apart from those that let requests be skipped.
    """

    def __init__(self) -> None:
        self.replacements = Replacements()
        # What stands for what, and where that has led first; nothing once it has led elsewhere, too.
        self._kinds: OrderedDict[tuple[str, str, str], str] = OrderedDict()
        self._led = Counters()
        self._rules = 0

    def __bool__(self) -> bool:
        return self._rules > 0

    def learn(self, url: str, target: str) -> None:
        """Take a rule from a redirect, the second time that it leads to another page: what leads to one page alone is no rule."""
        found = difference(url, target)
        if found is None or self._rules >= _MOST_RULES:
            return
        prefix, run, other = found
        # A path that becomes part of a query is the way back from a log-in form.
        if "?" in other and "?" not in run and len(prefix) + len(run) < len(url):
            return
        kind = "" if run else prefix, run, other
        first = self._kinds.setdefault(kind, target)
        if len(self._kinds) > _MOST_KINDS:
            self._kinds.popitem(last=False)
        if first not in ("", target):
            self._kinds[kind] = ""
            self._rules += self.replacements.learn(url, target) is not None

    def led(self, twins: list[Twin], target: str) -> None:
        """Count for the rules that lead where a redirect does whether it leads there, if that page was kept."""
        kept = [twin for twin in twins if twin.status == KEPT]
        right = {twin.part for twin in kept if twin.url == target}
        for part in {twin.part for twin in kept}:
            self._led.add(part, float(part in right))

    def fetched(self, twins: list[Twin], *, copy: bool) -> None:
        """Count a page that was fetched under its own URL."""
        for part in {twin.part for twin in twins}:
            self._led.add(part, float(copy))

    def lead(self, twins: list[Twin]) -> bool:
        """Return whether a URL of these twins probably leads to a page that was kept."""
        counts = (self._led.get(twin.part) for twin in twins if twin.status == KEPT)
        bounds = (lower_bound((led + 1) / (tried + 2), tried) for led, tried in filter(None, counts))
        return max(bounds, default=0.0) >= _LEADS
