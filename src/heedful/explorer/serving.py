"""Serve the explorer from this machine, at a port that is known before anything is printed."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable

import uvicorn

from heedful.errors import BadInput
from heedful.explorer.access import TOKEN

LOOPBACK = ("127.0.0.1", "::1", "localhost")


def listen(host: str, port: int) -> socket.socket:
    """Take a port, any free one for 0, or say in a sentence why it cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sends at once only on sockets that were made as TCP's by name. On others what follows the head of an answer
    # waits until the browser has acknowledged that, which takes 40 ms.
    taken = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        taken.bind((host, port))
    except (OSError, OverflowError) as error:
        taken.close()
        if getattr(error, "errno", None) == errno.EADDRINUSE:
            raise BadInput(
                f"Port {port} is in use: choose another, or --port 0 for any that is free."
            ) from None
        if getattr(error, "errno", None) == errno.EACCES:
            raise BadInput(f"Port {port} is not for everybody: choose one above 1023, or --port 0.") from None
        raise BadInput(f"Nothing can listen at {host}, port {port} ({error}): choose another.") from None
    return taken


def address(host: str, port: int, token: str) -> str:
    """Write the address that opens the explorer."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/?{TOKEN}={token}"


def serve(app: object, taken: socket.socket, *, ready: Callable[[], None]) -> None:
    """Answer requests until somebody stops the server."""
    config = uvicorn.Config(
        app,  # type: ignore[arg-type]
        log_level="warning",
        access_log=False,
        server_header=False,
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=2,
    )
    server = _Announced(config, ready)
    server.run(sockets=[taken])


class _Announced(uvicorn.Server):
    """A server that says when it answers."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer, and say so."""
        await super().startup(sockets)
        if self.started:
            self._ready()
