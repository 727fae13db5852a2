"""Headless Chromium, driven by Selenium: for what only a browser can show. It comes from Debian's packages chromium and chromium-driver."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
# No window, and no sandbox: continuous integration runs as root.
_ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
_FIRST_PAINT = """
const [done] = arguments;
const told = (list) => done(list.getEntriesByName("first-contentful-paint")[0].startTime);
new PerformanceObserver(told).observe({ type: "paint", buffered: true });
"""
_TEXTS = "return [...document.querySelectorAll(arguments[0])].map(at => at.textContent.toWellFormed())"
_CHOOSE = """
const [selector, value] = arguments;
const menu = document.querySelector(selector);
menu.value = value;
menu.dispatchEvent(new Event("change"));
"""


class UnavailableError(Exception):
    """There is no browser here."""


class Browser:
    """One tab of a browser."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, file: Path, *, width: int = 1280, height: int = 900, dark: bool = False) -> None:
        """Open a file at the size of a screen; up to 600 pixels that of a phone."""
        screen = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width <= 600}
        self.command("Emulation.setDeviceMetricsOverride", **screen)
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.driver.get(file.as_uri())

    def command(self, name: str, **parameters: Any) -> Any:
        """Give a command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, parameters)

    def run(self, script: str, *arguments: Any) -> Any:
        """Return what a script in the page returns."""
        return self.driver.execute_script(script, *arguments)

    def texts(self, selector: str) -> list[str]:
        """Return the texts of the elements that a selector finds."""
        return list(self.run(_TEXTS, selector))

    def choose(self, selector: str, value: str) -> None:
        """Choose an option of a menu."""
        self.run(_CHOOSE, selector, value)

    def press(self, *keys: str) -> None:
        """Press keys, wherever the focus is."""
        self.driver.switch_to.active_element.send_keys(*keys)

    def complaints(self) -> list[str]:
        """Return what the console says since it was last asked."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def first_paint(self, file: Path) -> float:
        """Return the seconds from navigation to the first contentful paint."""
        self.driver.get("about:blank")
        self.open(file)
        return float(self.driver.execute_async_script(_FIRST_PAINT)) / 1000


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start a browser for the length of a `with` block.

    Raises:
        UnavailableError: there is none, or no driver of its version.
    """
    binary = next(filter(None, map(shutil.which, _CHROMIUM)), None)
    driver = shutil.which("chromedriver")
    if not binary or not driver:
        raise UnavailableError("needs Chromium and chromedriver (Debian: apt-get install chromium chromium-driver)")
    try:
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service
    except ImportError as exc:
        raise UnavailableError("needs Selenium (pip install selenium)") from exc
    options: Any = webdriver.ChromeOptions()
    options.binary_location = binary
    for argument in _ARGUMENTS:
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    started: Any = webdriver.Chrome(options=options, service=Service(driver, log_output=os.devnull))
    try:
        yield Browser(started)
    finally:
        started.quit()
