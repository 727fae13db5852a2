"""Servers for stores of a fleet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.redis_server import Server, shared_server

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def url() -> str:
    """The URL of a store that nobody else has, on a server that all tests share."""
    return shared_server().url()


@pytest.fixture
def server() -> Iterator[Server]:
    """A server of the test's own, to do harm to."""
    made = Server()
    yield made
    made.close()
