"""The imports of every module: one direction, and one owner for each foreign library."""

from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import simcrawl
from tests.samples import python

ROOT = Path(simcrawl.__file__).parent

# A module may import what stands left of its part, and the modules of its own part.
LAYERS = [
    "errors",
    "system",
    "bits",
    "sealed",
    "addresses",
    "index",
    "page",
    "differences",
    "rule",
    "config",
    "store",
    "urls",
    "workers",
    "detector",
    "tools",
    "report",
    "cli",
    "crawl",
]
OWNERS = {
    "lmdb": ["index.environment"],
    "lxml": ["page.extraction", "page.fast_extraction", "page.hints", "page.walk"],
    "trafilatura": ["page.extraction"],
    "resiliparse": ["page.fast_extraction"],
    "jieba": ["page.chinese"],
    "rjieba": ["page.chinese"],
    "matplotlib": ["tools.calibration"],
    "jinja2": ["report.page"],
    "xxhash": ["crawl.preferred", "crawl.refused", "crawl.said", "page.features", "page.hints", "page.recipes", "urls.classes"],
    "tldextract": ["addresses"],
    "click": ["cli"],
    "redis": ["store.fleet_log"],
    "fastwarc": ["tools.bulk"],
    "prometheus_client": ["cli.watch"],
    "scrapy": ["crawl"],
    "twisted": ["crawl"],
    "itemadapter": ["crawl"],
    "rich": [
        "cli.compare",
        "cli.dropped",
        "cli.output",
        "cli.report",
        "cli.rules",
        "cli.watch",
        "crawl.progress",
        "crawl.spiders.demo",
        "report.page",
    ],
    "w3lib": ["page.extraction", "page.hints"],
}
# Modules that import each other for types alone; none is to come.
TYPED_CYCLES: list[set[str]] = []
HEAVY = ("redis", "scrapy", "twisted", "trafilatura", "lxml", "lmdb", "jieba", "numpy", "click")


@dataclass(frozen=True)
class Import:
    """`lazy`: inside a function, so that it happens when that is called."""

    name: str
    lazy: bool


def _modules() -> dict[str, Path]:
    files = {".".join(file.relative_to(ROOT).with_suffix("").parts): file for file in ROOT.rglob("*.py")}
    return {name.removesuffix("__init__").removesuffix("."): file for name, file in files.items()}


MODULES = _modules()


def _imports(tree: ast.AST, *, lazy: bool = False, typed: bool = False) -> list[Import]:
    """Return what a module imports when it runs; `typed`: and what stands under `if TYPE_CHECKING`, which never does."""
    found = []
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and not typed:
            continue
        if isinstance(node, ast.Import):
            found += [Import(alias.name, lazy) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute"
            found += [Import(f"{node.module}.{alias.name}", lazy) for alias in node.names]
        else:
            found += _imports(node, lazy=lazy or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda), typed=typed)
    return found


@cache
def _of(module: str, *, typed: bool = False) -> list[Import]:
    return _imports(ast.parse(MODULES[module].read_text()), typed=typed)


def _own(imported: Import) -> str | None:
    """Return the module of ours that an import reaches; None for the libraries."""
    package, _, rest = imported.name.partition(".")
    if package != "simcrawl":
        return None
    first, _, _ = rest.partition(".")
    # `from simcrawl import Detector` reaches the detector, by way of the package's __getattr__.
    rest = f"{simcrawl._HOMES[first]}.{rest}" if first in simcrawl._HOMES and first not in MODULES else rest
    return rest if rest in MODULES else rest.rpartition(".")[0]


def _part(module: str) -> str:
    return module.partition(".")[0]


def _owned(module: str, owners: list[str]) -> bool:
    return any(module == owner or module.startswith(f"{owner}.") for owner in owners)


def test_every_module_has_its_place():
    assert {_part(module) for module in MODULES} == {"", *LAYERS}


@pytest.mark.parametrize("module", [module for module in MODULES if module])
def test_no_module_imports_what_stands_right_of_it(module: str):
    reached = {_part(own) for imported in _of(module) if (own := _own(imported))}
    allowed = LAYERS[: LAYERS.index(_part(module)) + 1]
    assert reached <= set(allowed)


@pytest.mark.parametrize("room", [part for part in LAYERS if (ROOT / part).is_dir()])
def test_each_room_lists_its_files(room: str):
    told = ast.get_docstring(ast.parse((ROOT / room / "__init__.py").read_text())) or ""
    files = {file.stem for file in (ROOT / room).glob("*.py")} - {"__init__"}
    assert {file for file in files if not re.search(rf"\b{file}\b", told)} == set()


def test_the_package_itself_imports_nothing_of_its_own():
    assert {imported.name.partition(".")[0] for imported in _of("")} == {"__future__", "importlib", "typing"}


def test_the_walk_needs_the_parser_s_tree_and_what_is_decided_by_it_does_not():
    names = {module: {imported.name.partition(".")[0] for imported in _of(f"page.{module}")} for module in ("walk", "blocks")}
    foreign = {module: {name for name in found if name not in sys.stdlib_module_names} for module, found in names.items()}
    assert foreign == {"walk": {"lxml", "simcrawl"}, "blocks": {"simcrawl"}}


def test_there_is_no_cycle_of_modules():
    assert list(TopologicalSorter(_graph()).static_order())  # raises CycleError, which names the cycle


def test_there_is_no_cycle_of_types_but_those_that_are_known():
    """Modules that name each other's types are one concept in two files, whatever runs first. A cycle that is mended leaves the list."""
    assert _cycles(_graph(typed=True)) == TYPED_CYCLES


def test_cycles_are_found_whole():
    assert _cycles({"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": {"d"}, "f": {"a"}}) == [{"a", "b", "c"}, {"d", "e"}]
    assert _cycles({"a": {"b"}, "b": set()}) == []


def _graph(*, typed: bool = False) -> dict[str, set[str]]:
    """Return what each module imports of ours. The package itself names types of all of them, which it imports when they are asked for."""
    return {
        module: {own for imported in _of(module, typed=typed) if (own := _own(imported)) and own != module} for module in MODULES if module
    }


def _cycles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Return the largest sets of modules each of which leads to all others of its set."""
    reached = {module: _reached(graph, module) for module in graph}
    sets = {frozenset(other for other in reached[module] if module in reached[other]) for module in graph}
    return sorted(map(set, sets - {frozenset()}), key=min)


def _reached(graph: dict[str, set[str]], module: str) -> set[str]:
    found, waiting = set[str](), [module]
    while waiting:
        new = graph.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return found


def test_the_checker_sees_imports_of_every_kind():
    code = """
import a.b
from simcrawl.page.fingerprint import Page
if TYPE_CHECKING:
    from never import seen
def f():
    from simcrawl import Detector, errors, __version__
"""
    found = _imports(ast.parse(code))
    assert [(imported.name, imported.lazy) for imported in found] == [
        ("a.b", False),
        ("simcrawl.page.fingerprint.Page", False),
        ("simcrawl.Detector", True),
        ("simcrawl.errors", True),
        ("simcrawl.__version__", True),
    ]
    assert _imports(ast.parse(code), typed=True)[2].name == "never.seen"
    assert [_own(imported) for imported in found] == [None, "page.fingerprint", "detector", "errors", ""]


@pytest.mark.parametrize("library", OWNERS)
def test_every_library_has_its_owner(library: str):
    users = {module for module in MODULES for imported in _of(module) if imported.name.partition(".")[0] == library}
    assert users
    assert all(_owned(module, OWNERS[library]) for module in users), users


@pytest.mark.parametrize(
    ("user", "target"),
    [("page.fingerprint", "page.extraction"), ("store", "store.opening"), ("crawl.command", "cli")],
)
def test_what_is_slow_to_import_is_imported_when_it_is_needed(user: str, target: str):
    assert {imported.lazy for imported in _of(user) if _own(imported) == target} == {True}


def test_nobody_imports_a_reactor_at_the_top():
    reactors = [(module, imported) for module in MODULES for imported in _of(module) if imported.name.endswith("internet.reactor")]
    assert reactors
    assert all(imported.lazy for _, imported in reactors)


def _loaded(statement: str, names: tuple[str, ...]) -> list[str]:
    return python(f"import sys\n{statement}\nprint(*(name for name in {names!r} if name in sys.modules))").split()


def test_the_package_loads_nothing_heavy():
    assert _loaded("import simcrawl", HEAVY) == []


def test_fingerprinting_a_text_loads_neither_scrapy_nor_trafilatura_nor_lmdb():
    assert _loaded("import simcrawl; simcrawl.fingerprint('plain English')", HEAVY) == ["numpy"]
    assert _loaded("import simcrawl; simcrawl.open_store('memory:')", HEAVY) == ["numpy"]


def test_the_command_line_loads_no_scrapy_and_scrapy_s_command_no_command_line():
    assert _loaded("import simcrawl.cli", ("scrapy", "trafilatura", "lmdb", "jieba", "jinja2")) == []
    assert _loaded("import simcrawl.crawl.command", ("simcrawl.cli", "trafilatura", "jieba")) == []


def test_loading_the_scrapy_shell_installs_no_reactor():
    assert _loaded("import simcrawl; simcrawl.Addon", ("twisted.internet.reactor",)) == []


# ---- the names of the package


def test_the_names_are_sorted_complete_and_typed():
    names = simcrawl.__all__
    assert names == sorted(names) == sorted(simcrawl._HOMES)
    (checked,) = (node for node in ast.parse(MODULES[""].read_text()).body if isinstance(node, ast.If))
    typed = {alias.name: f"{node.module}" for node in checked.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert typed == {name: f"simcrawl.{home}" for name, home in simcrawl._HOMES.items()}


@pytest.mark.parametrize("name", simcrawl.__all__)
def test_every_name_resolves_to_the_thing_itself(name: str):
    found = getattr(simcrawl, name)
    assert name in dir(simcrawl)
    assert getattr(found, "__name__", name).rpartition(".")[2] == name


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Detektor'"):
        _ = simcrawl.Detektor


def test_star_import_gives_all_names():
    assert python("from simcrawl import *\nimport simcrawl\nprint(all(name in globals() for name in simcrawl.__all__))") == "True"
