"""A hub that cannot be reached should be noticed in seconds, not after a minute of its library's retries."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

_SECONDS = 3.0


@contextmanager
def quick_to_give_up() -> Iterator[None]:
    """Put the hub's libraries into their offline mode while the hub does not answer.

    Offline they still serve what they have cached. A proxy is trusted to answer for itself.
    """
    from huggingface_hub import constants

    # The datasets library, where it is loaded, keeps a copy of the switch.
    copies = (constants, getattr(sys.modules.get("datasets"), "config", None))
    switches: list[Any] = [module for module in copies if module is not None]
    before = [module.HF_HUB_OFFLINE for module in switches]
    offline = any(before) or not (getproxies() or _answers(constants.ENDPOINT))
    try:
        for module in switches:
            module.HF_HUB_OFFLINE = offline
        yield
    finally:
        for module, value in zip(switches, before, strict=True):
            module.HF_HUB_OFFLINE = value


def _answers(address: str) -> bool:
    parts = urlsplit(address)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 443), timeout=_SECONDS):
            return True
    except OSError:
        return False
