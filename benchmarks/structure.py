"""How large the house is: modules, lines, names, the largest classes and files, and cycles of imports.

    python -m benchmarks.structure            # of this checkout
    python -m benchmarks.structure DIRECTORY  # of another one, to compare

Lines are those of the files, with docstrings and comments. A public name is a class or function of a module, or a method or property of a
class, without a leading underscore. An attribute is what a class assigns to `self` or declares in its body. Cycles count imports for types
(`if TYPE_CHECKING`) as well, between modules, and between the rooms (the first level of packages).
"""

from __future__ import annotations

import ast
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LARGEST = 10
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Class:
    """A class of a module."""

    name: str
    methods: set[str] = field(default_factory=set)
    attributes: set[str] = field(default_factory=set)


@dataclass
class Module:
    """A module: its lines, what it defines, and which modules of the package it imports."""

    name: str
    lines: int
    public: int
    classes: list[Class]
    imports: set[str]


def modules(package: Path) -> dict[str, Module]:
    """Return the modules of a package by their dotted names below it."""
    files = {_name(package, file): file for file in sorted(package.rglob("*.py"))}
    return {name: _module(name, file, set(files), package.name) for name, file in files.items()}


def _name(package: Path, file: Path) -> str:
    return ".".join(file.relative_to(package).with_suffix("").parts).removesuffix("__init__").removesuffix(".")


def _module(name: str, file: Path, known: set[str], package: str) -> Module:
    text = file.read_text()
    tree = ast.parse(text)
    classes = [_class(node) for node in tree.body if isinstance(node, ast.ClassDef)]
    defined = [node.name for node in tree.body if isinstance(node, ast.ClassDef | _Function)]
    members = [member for one in classes if not one.name.startswith("_") for member in one.methods]
    public = sum(not one.startswith("_") for one in (*defined, *members))
    return Module(name, len(text.splitlines()), public, classes, set(_imports(tree, known, package)) - {name})


def _class(node: ast.ClassDef) -> Class:
    found = Class(node.name)
    for child in node.body:
        if isinstance(child, _Function):
            found.methods.add(child.name)
            found.attributes |= set(_assigned(child))
        elif isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name):
            found.attributes.add(child.target.id)
    return found


def _assigned(function: _Function) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self":
            yield node.attr


def _imports(tree: ast.Module, known: set[str], package: str) -> Iterator[str]:
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            first, _, rest = name.partition(".")
            if first == package and rest:
                yield rest if rest in known else rest.rpartition(".")[0]


def cycles(graph: dict[str, set[str]]) -> list[set[str]]:
    """Return the groups of nodes that reach one another, the largest first (Tarjan 1972, without recursion: by what each one reaches)."""
    reached = {node: _reached(graph, node) for node in graph}
    groups = {frozenset(other for other in reached[node] if node in reached.get(other, ())) for node in graph if node in reached[node]}
    return sorted(map(set, groups), key=len, reverse=True)


def _reached(graph: dict[str, set[str]], start: str) -> set[str]:
    found, waiting = set[str](), [start]
    while waiting:
        for node in graph.get(waiting.pop(), ()):
            if node not in found:
                found.add(node)
                waiting.append(node)
    return found


def rooms(found: dict[str, Module]) -> dict[str, set[str]]:
    """Return which room imports which: a room is a package or a module of the first level."""
    graph: dict[str, set[str]] = {}
    for module in found.values():
        room = module.name.partition(".")[0]
        # The package itself hands out names and is nobody's room.
        if room:
            graph.setdefault(room, set()).update({other.partition(".")[0] for other in module.imports} - {room, ""})
    return graph


def main() -> None:
    """Print the figures of a checkout."""
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[1]
    found = modules(root / "simcrawl")
    classes = [(one, module.name) for module in found.values() for one in module.classes]
    print(f"modules {len(found)}, lines {sum(module.lines for module in found.values())}")
    print(f"doors on the ground floor {len({name.partition('.')[0] for name in found if name})}")
    print(f"public names {sum(module.public for module in found.values())}, in simcrawl.__all__ {_exported(root)}")
    print("longest files: " + ", ".join(f"{one.name} {one.lines}" for one in sorted(found.values(), key=lambda m: -m.lines)[:_LARGEST]))
    largest = sorted(classes, key=lambda pair: -len(pair[0].methods))[:_LARGEST]
    print("largest classes: " + ", ".join(f"{c.name} {len(c.methods)} methods, {len(c.attributes)} attributes" for c, _ in largest))
    graph = {module.name: module.imports - {""} for module in found.values()}
    for what, groups in (("modules", cycles(graph)), ("rooms", cycles(rooms(found)))):
        print(f"cycles of {what}, imports for types counted: {len(groups)}")
        for group in groups:
            print("    " + ", ".join(sorted(group)))


def _exported(root: Path) -> int:
    tree = ast.parse((root / "simcrawl" / "__init__.py").read_text())
    lists = [node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"]
    return len(ast.literal_eval(lists[0]))


if __name__ == "__main__":
    main()
