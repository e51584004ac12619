"""Ctrl-C, whenever it comes: one line and exit code 130. This file is imported first and imports next to nothing."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

STOPPED = 130
SAID = "Stopped: the same command continues from what is finished."
_pressed = False


def was_pressed() -> bool:
    """Whether Ctrl-C was pressed: libraries in other languages turn it into errors of their own."""
    return _pressed


@contextmanager
def quiet_until_ready() -> Iterator[None]:
    """Leave at once while nothing has begun; afterwards, raise KeyboardInterrupt as Python does, and remember it."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) in (
        signal.SIG_IGN,  # as a shell starts what runs in the background
        None,
    ):
        yield
        return
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, _interrupt if before is signal.default_int_handler else before)


def _leave(number: int, frame: FrameType | None) -> None:
    os.write(2, b"Stopped before anything began.\n")
    os._exit(STOPPED)


def _interrupt(number: int, frame: FrameType | None) -> None:
    global _pressed  # noqa: PLW0603 a signal has nowhere else to leave word
    _pressed = True
    if _importing(frame):
        # Libraries in other languages abort the process when an exception meets them while they are loaded.
        shown = b"\x1b[?25h" if os.isatty(2) else b""  # a cursor that a progress bar has hidden
        os.write(2, shown + f"Error: {SAID}\n".encode())
        os._exit(STOPPED)
    raise KeyboardInterrupt


def _importing(frame: FrameType | None) -> bool:
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False
