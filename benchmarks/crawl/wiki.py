"""A wiki: DokuWiki as Debian packages it, with manual pages and licences, of which two thirds have histories; four thousand URLs.

Needs the packages of `PACKAGES`, installed, since it runs their program: its pages are made by PHP's own server. The machine's own wiki,
where there is one, is not touched: program and settings are copied.
"""

from __future__ import annotations

import gzip
import os
import re
import shutil
import signal
import socket
import subprocess
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, NamedTuple
from urllib.error import HTTPError
from urllib.request import urlopen

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGES = ("php-cli", "php-xml", "php-mbstring", "dokuwiki", "manpages", "manpages-dev", "groff-base")
START = "/doku.php"
CONTAINER = '//div[contains(concat(" ", @class, " "), " page ")]'
"""XPath of what a page says."""
_PROGRAM, _SETTINGS, _DATA = Path("/usr/share/dokuwiki"), Path("/etc/dokuwiki"), Path("/var/lib/dokuwiki/data")
_MANUALS, _LICENCES = Path("/usr/share/man"), Path("/usr/share/common-licenses")
_SECTIONS = {"2": 100, "7": 60}
_NAMES = ("Apache-2.0", "Artistic", "BSD", "CC0-1.0", "GPL-1", "GPL-2", "GPL-3", "LGPL-2", "LGPL-2.1", "LGPL-3", "MPL-1.1", "MPL-2.0")
_BEGUN = 1_700_000_000
_DAY = 86_400
_SECONDS_TO_START = 30
_LOCAL = """<?php
$conf['title'] = 'Handbook'; $conf['license'] = 'cc-by-sa'; $conf['useacl'] = 1; $conf['superuser'] = '@admin';
$conf['savedir'] = '{root}/data'; $conf['disableactions'] = 'register,resendpwd'; $conf['tpl'] = 'dokuwiki'; $conf['lang'] = 'en';
$conf['sitemap'] = 0; $conf['updatecheck'] = 0; $conf['cookiesalt'] = 'fixed';
"""


class UnavailableError(Exception):
    """A package is not installed."""


class _Version(NamedTuple):
    time: int
    text: str
    summary: str


@contextmanager
def serving(root: Path) -> Iterator[str]:
    """Serve the wiki from a directory, which is built where it does not exist, and give its address."""
    if not root.exists():
        build(root)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    settings = ("error_reporting=0", "display_errors=0", "opcache.enable_cli=1", f"session.save_path={root}", "date.timezone=UTC")
    command = ["php", *(word for setting in settings for word in ("-d", setting)), "-S", address, "-t", str(root / "www")]
    # A session of its own: the server's workers outlive it otherwise.
    environment = os.environ | {"PHP_CLI_SERVER_WORKERS": "4"}
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, env=environment, stdout=quiet, stderr=quiet, start_new_session=True) as process:
        try:
            _wait(f"http://{address}{START}")
            yield f"http://{address}{START}"
        finally:
            os.killpg(process.pid, signal.SIGTERM)


def _wait(url: str) -> None:
    until = monotonic() + _SECONDS_TO_START
    while True:
        try:
            urlopen(url).close()
        except HTTPError:
            raise
        except OSError:
            if monotonic() > until:
                raise
            sleep(0.1)
        else:
            return


def build(root: Path) -> None:
    """Copy the program into a directory, and write the pages.

    Raises:
        UnavailableError: a package is not installed.
    """
    needed = (_PROGRAM, _DATA, _MANUALS / "man2/open.2.gz", _MANUALS / "man7/signal.7.gz")
    if not shutil.which("php") or not shutil.which("groff") or not all(path.exists() for path in needed):
        raise UnavailableError(f"the wiki runs from Debian packages: apt-get install --no-install-recommends {' '.join(PACKAGES)}")
    shutil.copytree(_PROGRAM, root / "www")
    shutil.copytree(_SETTINGS, root / "conf", ignore_dangling_symlinks=True)
    for name in ("pages", "meta", "attic", "cache", "index", "locks", "log", "media", "media_attic", "media_meta", "tmp"):
        (root / "data" / name).mkdir(parents=True)
    (root / "www/install.php").unlink(missing_ok=True)
    (root / "www/inc/preload.php").write_text(f"<?php\nif(!defined('DOKU_CONF')) define('DOKU_CONF', '{root}/conf/');\n")
    (root / "conf/local.php").write_text(_LOCAL.replace("{root}", str(root)))
    (root / "conf/acl.auth.php").write_text("*\t@ALL\t1\n")
    (root / "conf/users.auth.php").write_text("keeper:!:Keeper:keeper@example.org:admin,user\n")
    _write(root / "data", _texts())


def _texts() -> dict[str, list[str]]:
    """Return the pages by their ids: paragraphs, headings marked as such."""
    found: dict[str, list[str]] = {}
    for section, most in _SECTIONS.items():
        chosen = (path for path in sorted((_MANUALS / f"man{section}").glob("*.gz")) if _is_plain(path))
        made = ((f"man{section}:{path.name[:-5]}", parts) for path in chosen if len(" ".join(parts := _manual(path))) > 1500)
        found |= dict(pair for pair, _ in zip(made, range(most), strict=False))
    for name in _NAMES:
        if (path := _LICENCES / name).exists():
            blocks = re.split(r"\n\s*\n", path.read_text(errors="replace")[:20_000])
            found[f"licence:{name.lower()}"] = [" ".join(block.split()) for block in blocks if block.strip()]
    return found


def _is_plain(path: Path) -> bool:
    # Of section 7 only the pages of that package: others come and go with what is installed.
    own = not path.match("man7/*") or str(path) in _listed()
    return own and not path.is_symlink() and 2500 < path.stat().st_size < 9000 and bool(re.fullmatch(r"[a-z0-9_-]+", path.name[:-5]))


@cache
def _listed() -> frozenset[str]:
    return frozenset(Path("/var/lib/dpkg/info/manpages.list").read_text().splitlines())


def _manual(path: Path) -> list[str]:
    source = gzip.decompress(path.read_bytes())
    if source.lstrip().startswith(b".so "):
        return []
    command = ["groff", "-mandoc", "-Tutf8", "-P-c", "-rLL=5000n"]
    shown = subprocess.run(command, input=source, capture_output=True, check=False).stdout.decode("utf-8", "replace")
    lines = re.sub(r".\x08|\x1b\[[0-9;]*m", "", shown).replace("\u2010\n", "").split("\n")[1:-3]
    texts = ((line[:1].strip(), " ".join(line.split())) for line in lines)
    return [f"===== {text.capitalize()} =====" if heading else text for heading, text in texts if text]


def _write(data: Path, texts: dict[str, list[str]]) -> None:
    """Write the pages with their histories, and pages of links to them."""
    known = {f"{page.split(':')[1]}({page[3]})": page for page in texts if page.startswith("man")}
    changes: list[str] = []
    for number, (page, parts) in enumerate(sorted(texts.items())):
        changes += _put(data, page, list(_history(number, page, parts, known)))
    spaces = sorted({page.partition(":")[0] for page in texts})
    for space in spaces:
        links = "\n".join(f"  * [[{page}|{page.partition(':')[2]}]]" for page in sorted(texts) if page.startswith(f"{space}:"))
        text = f"====== {space.capitalize()} ======\n\nPages of this part:\n\n{links}\n"
        changes += _put(data, f"{space}:start", [_Version(_BEGUN + 5, text, "contents")])
    links = "\n".join(f"  * [[{space}:start|{space.capitalize()}]]" for space in spaces)
    changes += _put(
        data, "start", [_Version(_BEGUN + 9, f"====== Handbook ======\n\nManual pages and licences.\n\n{links}\n", "start page")]
    )
    (data / "meta/_dokuwiki.changes").write_text("".join(sorted(changes)))


def _history(number: int, page: str, parts: list[str], known: dict[str, str]) -> Iterator[_Version]:
    """Give the versions of a page: of each three pages one has three, one two, one one."""
    time = _BEGUN + _DAY * (number % 97) + 60 * number
    if number % 3 == 0 and len(parts) > 8:
        late = [part.replace(" which ", " that ", 1) if i % 5 == 0 else part for i, part in enumerate(parts) if i != len(parts) - 2]
        yield _Version(time, _markup(page, parts[: len(parts) // 2], known), "first draft")
        yield _Version(time + 40_000, _markup(page, late, known), "completed")
        yield _Version(time + 90_000, _markup(page, parts, known), "paragraph added")
    elif number % 3 == 1:
        yield _Version(time, _markup(page, parts[:-1], known), "new")
        yield _Version(time + 50_000, _markup(page, parts, known), "last paragraph")
    else:
        yield _Version(time, _markup(page, parts, known), "new")


def _markup(page: str, parts: list[str], known: dict[str, str]) -> str:
    body = "\n\n".join(part if part.startswith("=") else _linked(part, page, known) for part in parts)
    return f"====== {page.partition(':')[2]} ======\n\n{body}\n"


def _linked(text: str, page: str, known: dict[str, str]) -> str:
    def link(match: re.Match[str]) -> str:
        target = known.get(match[1], page)
        return match[1] if target == page else f"[[{target}|{match[1]}]]"

    # Nothing of the text is to be taken for mark-up.
    return re.sub(r"\b([a-z0-9_-]+\([27]\))", link, re.sub(r"([\[{(<>/*_~'%|-])(?=\1)", r"\1 ", text))


def _put(data: Path, page: str, versions: list[_Version]) -> list[str]:
    """Write a page with its versions, the oldest first, and return the lines of its history."""
    path = page.replace(":", "/")
    current, attic, meta = (data / name / path for name in ("pages", "attic", "meta"))
    for directory in (current.parent, attic.parent, meta.parent):
        directory.mkdir(parents=True, exist_ok=True)
    lines, size = [], 0
    for number, (time, text, summary) in enumerate(versions):
        lines.append(f"{time}\t127.0.0.1\t{'E' if number else 'C'}\t{page}\tkeeper\t{summary}\t\t{len(text) - size}\n")
        size = len(text)
        older = attic.with_name(f"{attic.name}.{time}.txt.gz")
        older.write_bytes(gzip.compress(text.encode(), mtime=0))
        os.utime(older, (time, time))
    meta.with_name(f"{meta.name}.changes").write_text("".join(lines))
    shown = current.with_name(f"{current.name}.txt")
    shown.write_text(versions[-1].text)
    os.utime(shown, (versions[-1].time,) * 2)
    return lines
