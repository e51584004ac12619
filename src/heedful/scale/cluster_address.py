"""Whether a Ray cluster listens at an address: asked within seconds, while Ray itself would try for many minutes."""

from __future__ import annotations

import re
import socket

from heedful.errors import BadInput

_PATIENCE = 5.0
"""Seconds for each of two steps: to be let in, and to be answered."""
_PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"
"""How a client greets a server of HTTP/2 (RFC 9113, 3.4), which Ray's is, with an empty frame of settings."""
_SETTINGS = 4
_FRAME = 9


def check_reachable(address: str) -> None:
    """Refuse an address that is none, where nobody listens, or where somebody else than a Ray cluster does."""
    host, port = _cut(address)
    try:
        with socket.create_connection((host, port), timeout=_PATIENCE) as connection:
            connection.sendall(_PREFACE)
            answer = _answer(connection)
    except (OSError, UnicodeError) as error:
        reason = "no answer" if isinstance(error, TimeoutError) else (getattr(error, "strerror", "") or error)
        raise BadInput(
            f"No Ray cluster can be reached at {address} ({str(reason).lower()}): start one with ray start --head, or check the "
            "address that it printed."
        ) from None
    if len(answer) < _FRAME or answer[3] != _SETTINGS:
        raise BadInput(
            f"What listens at {address} is not a Ray cluster: give the address that ray start --head printed (its port is "
            "usually 6379)."
        )


def _answer(connection: socket.socket) -> bytes:
    """The header of the first frame, or less."""
    answer = b""
    while len(answer) < _FRAME and (more := connection.recv(_FRAME - len(answer))):
        answer += more
    return answer


def _cut(address: str) -> tuple[str, int]:
    """Cut an address into host and port.

    >>> _cut("head.local:6379"), _cut("[::1]:6379")
    (('head.local', 6379), ('::1', 6379))
    >>> _cut("head.local")
    Traceback (most recent call last):
    heedful.errors.BadInput: 'head.local' is no address of a Ray cluster: write ray:HOST:PORT, as in ray:10.0.0.1:6379.
    """
    found = re.fullmatch(r"(\[[0-9A-Fa-f:.]+\]|[^:/\[\]\s]+):(\d{1,5})", address)
    if found is None or not 0 < int(found[2]) < 2**16:
        raise BadInput(
            f"{address[:100]!r} is no address of a Ray cluster: write ray:HOST:PORT, as in ray:10.0.0.1:6379."
        )
    return found[1].strip("[]"), int(found[2])
