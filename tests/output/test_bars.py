"""What is shown of work that takes time: sentences stay, bars come and go, and nothing in a name steers."""

from __future__ import annotations

import io
import re

import pytest

from heedful.output.bars import Bars
from heedful.output.terminal import Screen
from heedful.progress import QUIET


def shown(*, terminal: bool) -> tuple[Bars, io.StringIO]:
    file = io.StringIO()
    return Bars(Screen(file=file, width=80, force_terminal=terminal, highlight=False)), file


def work(bars: Bars) -> None:
    with bars.status("Reading [the] texts") as tell:
        tell("Almost there")
    with bars.bar("word_stability", 3, unit="texts", note="at first") as advance:
        advance(2)
        advance(1, note="loss 0.1")
    bars.say("runs/[bold]x\x1b[2J", good="best so far")


def test_a_terminal_has_bars_with_the_time_left():
    bars, file = shown(terminal=True)
    work(bars)
    text = re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", file.getvalue())
    assert "word stability" in text and "3/3 texts" in text and "loss 0.1" in text


def test_elsewhere_there_are_sentences_alone():
    bars, file = shown(terminal=False)
    work(bars)
    assert file.getvalue() == "runs/[bold]x\ufffd[2J  best so far\n"


def test_what_fails_inside_a_bar_is_raised_and_the_bar_is_gone():
    bars, _ = shown(terminal=True)
    with pytest.raises(ValueError, match="oh"), bars.bar("x", 1):
        raise ValueError("oh")
    with bars.status("y"):  # a bar that is still there would not allow it
        pass


def test_quiet_takes_everything_and_shows_nothing(capsys):
    work(QUIET)  # type: ignore[arg-type]
    assert capsys.readouterr() == ("", "")
