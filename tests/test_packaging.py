"""What is published: a source distribution that has everything, a wheel that is made of it, and a version that the changelog knows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.metadata import Metadata
from packaging.version import Version

import simcrawl

ROOT = Path(__file__).parents[1]
# What only a checkout has a use for.
LEFT_OUT = (".ci/", ".pre-commit-config.yaml")
CHANGES = (ROOT / "CHANGES.md").read_text()
LICENCES = ["LICENSE", "simcrawl/crawl/demo_site/LICENSE.txt"]


def _build(source: Path, kind: str, directory: Path) -> Path:
    """Return what hatchling builds, which fetches nothing."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(directory)]
    subprocess.run(command, cwd=source, check=True, capture_output=True, timeout=120)
    (built,) = directory.iterdir()
    return built


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of an unpacked source distribution."""
    directory = tmp_path_factory.mktemp("unpacked")
    with tarfile.open(_build(ROOT, "sdist", tmp_path_factory.mktemp("sdist"))) as archive:
        if sys.version_info >= (3, 11, 4):
            archive.extractall(directory, filter="data")
        else:
            archive.extractall(directory)
    (root,) = directory.iterdir()
    assert root.name == f"simcrawl-{simcrawl.__version__}"
    return root


@pytest.fixture(scope="module")
def wheel(unpacked: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files of the wheel that is made of the source distribution."""
    with zipfile.ZipFile(_build(unpacked, "wheel", tmp_path_factory.mktemp("wheel"))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture(scope="module")
def kept() -> set[str]:
    """The files of the repository."""
    if not (ROOT / ".git").exists():
        pytest.skip("which files there are only a checkout knows")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return {name for name in listed.split("\0") if name and (ROOT / name).exists()}


def test_the_source_distribution_has_every_file(unpacked: Path, kept: set[str]) -> None:
    assert [name for name in sorted(kept) if not name.startswith(LEFT_OUT) and not (unpacked / name).exists()] == []
    assert not (unpacked / ".git").exists()


def test_the_wheel_has_every_file_of_the_package_and_no_other(wheel: dict[str, bytes], kept: set[str]) -> None:
    packaged = {name for name in wheel if not name.startswith(f"simcrawl-{simcrawl.__version__}.dist-info/")}
    assert {name for name in kept if name.startswith("simcrawl/")} <= packaged
    assert "simcrawl/py.typed" in packaged
    assert all(name.startswith("simcrawl/") and "__pycache__" not in name for name in packaged)


def test_what_the_wheel_says_of_itself(wheel: dict[str, bytes]) -> None:
    about = f"simcrawl-{simcrawl.__version__}.dist-info"
    metadata = Metadata.from_email(wheel[f"{about}/METADATA"], validate=True)
    assert metadata.version == Version(simcrawl.__version__)
    assert metadata.description == (ROOT / "README.md").read_text()
    assert metadata.description_content_type == "text/markdown"
    assert metadata.license_files == LICENCES
    assert {f"{about}/licenses/{name}" for name in LICENCES} <= wheel.keys()
    entry_points = wheel[f"{about}/entry_points.txt"].decode()
    assert "simcrawl = simcrawl.cli:main" in entry_points
    assert "simcrawl = simcrawl.crawl.command:SimcrawlCommand" in entry_points


def test_tests_run_from_the_source_distribution(unpacked: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_sealed.py", "tests/page/test_hashing.py"]
    env = os.environ | {"PYTHONPATH": str(unpacked), "PYTHONDONTWRITEBYTECODE": "1"}
    where = [sys.executable, "-c", "import simcrawl; print(simcrawl.__file__)"]
    assert subprocess.run(where, cwd=unpacked, env=env, capture_output=True, text=True, check=True).stdout.startswith(str(unpacked))
    done = subprocess.run(command, cwd=unpacked, env=env, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stdout


def test_the_version_follows_the_changelog() -> None:
    """The topmost release is the version, or, before a release, what the section above it says that it will be."""
    sections = re.split(r"^## ", CHANGES, flags=re.MULTILINE)[1:]
    titles = [section.splitlines()[0] for section in sections]
    released = [Version(title.split()[0]) for title in titles if title != "Unreleased"]
    assert released == sorted(released, reverse=True)
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)", title) for title in titles if title != "Unreleased")
    if titles[0] != "Unreleased":
        assert str(released[0]) == simcrawl.__version__
        return
    (coming,) = re.findall(r"^This will be (\d+\.\d+\.\d+)\b", sections[0], re.MULTILINE)
    assert coming == simcrawl.__version__
    assert not released or Version(coming) > released[0]


def test_each_version_of_python_that_may_be_used_is_named() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = re.findall(r"Python :: 3\.(\d+)", "\n".join(project["classifiers"]))
    assert list(map(int, named)) == list(range(int(named[0]), int(named[-1]) + 1))
    assert project["requires-python"] == f">=3.{named[0]}"
    assert f"3.{sys.version_info.minor}" in {f"3.{minor}" for minor in named}
