"""What all tests share: Hypothesis profiles, and the real sites that crawls run on."""

from __future__ import annotations

import multiprocessing
import os
import shutil
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

from tests.crawl.server import DirectorySite, Site
from tests.quality import pairs
from tests.shared import directory_of_all, once
from tests.sites import installguide

if TYPE_CHECKING:
    from collections.abc import Iterator

# Each run has examples of its own, so many runs see many; in CI all have the same, or a change would be blamed for what it has not done.
settings.register_profile("dev", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=50)
settings.register_profile("ci", parent=settings.get_profile("dev"), derandomize=True)
settings.register_profile("thorough", parent=settings.get_profile("dev"), max_examples=1_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("ci" if os.environ.get("CI") else "dev"))

# A process has one fork server, and what it loads is what is known when the first test needs it: so here, for all that do.
multiprocessing.set_forkserver_preload(["benchmarks.fleet.worker", "tests.hostile_limits"])


@pytest.fixture
def site() -> Iterator[Site]:
    """A web site on loopback that a test fills with pages."""
    with Site() as running:
        yield running


@pytest.fixture(scope="session", autouse=True)
def _lists_of_packages(tmp_path_factory: pytest.TempPathFactory) -> None:
    pairs.keep_lists(directory_of_all(tmp_path_factory) / "apt")


@pytest.fixture(scope="session")
def installguide_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DirectorySite]:
    """The Debian installation guide for four architectures in three languages, and a mirror: 1,245 real pages."""
    if not shutil.which("apt-get") or not shutil.which("dpkg-deb"):
        pytest.skip("the installation guide comes from Debian packages: this needs apt-get and dpkg-deb")
    root = directory_of_all(tmp_path_factory) / "installguide"
    try:
        with once(root) as is_first:
            if is_first:
                installguide.build(root)
    except installguide.UnavailableError as exc:
        pytest.skip(f"the installation guide of Debian 12 cannot be downloaded: {exc}")
    with DirectorySite(root) as running:
        yield running
