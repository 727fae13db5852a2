"""Headless Chromium, driven by Playwright: for what only a browser can show. The browser is the system's (Debian's package chromium)."""

from __future__ import annotations

import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
_TEXTS = "selector => [...document.querySelectorAll(selector)].map(at => at.textContent.toWellFormed())"
_FIRST_PAINT = """
() => new Promise(done => {
  const told = (list) => done(list.getEntriesByName("first-contentful-paint")[0].startTime);
  new PerformanceObserver(told).observe({ type: "paint", buffered: true });
})
"""


class UnavailableError(Exception):
    """There is no browser here."""


class Tab:
    """A fresh tab with a file in it. `complaints`: what the console says and what fails; `requests`: what is asked for."""

    def __init__(self, context: Any, file: Path) -> None:
        self.page = context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(file.as_uri())

    def run(self, script: str, argument: Any = None) -> Any:
        """Return what an expression, or a function of one argument, gives in the page."""
        return self.page.evaluate(script, argument)

    def texts(self, selector: str) -> list[str]:
        """Return the texts of the elements that a selector finds."""
        return list(self.run(_TEXTS, selector))

    def press(self, *keys: str) -> None:
        """Press keys, wherever the focus is."""
        for key in keys:
            self.page.keyboard.press(key)

    def type(self, text: str) -> None:
        """Type a text, wherever the focus is."""
        self.page.keyboard.type(text)

    def first_paint(self) -> float:
        """Return the seconds from navigation to the first contentful paint."""
        return float(self.run(_FIRST_PAINT)) / 1000


class Browser:
    """A browser that opens files in tabs."""

    def __init__(self, browser: Any) -> None:
        self._browser = browser

    @contextmanager
    def open(self, file: Path, *, width: int = 1280, height: int = 900, dark: bool = False) -> Iterator[Tab]:
        """Open a file at the size of a screen; up to 600 pixels that of a phone."""
        screen = {"viewport": {"width": width, "height": height}, "is_mobile": width <= 600}
        context = self._browser.new_context(**screen, color_scheme="dark" if dark else "light")
        try:
            yield Tab(context, file)
        finally:
            context.close()


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start a browser for the length of a `with` block.

    Raises:
        UnavailableError: there is none, or no Playwright.
    """
    binary = next(filter(None, map(shutil.which, _CHROMIUM)), None)
    if not binary:
        raise UnavailableError("needs Chromium (Debian: apt-get install chromium)")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as exc:
        raise UnavailableError("needs Playwright (pip install playwright)") from exc
    with sync_playwright() as playwright:
        # Without its sandbox: continuous integration runs as root.
        started = playwright.chromium.launch(executable_path=binary, chromium_sandbox=False)
        try:
            yield Browser(started)
        finally:
            started.close()
