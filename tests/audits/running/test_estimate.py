"""How long audits of many words will take is said before they start."""

from __future__ import annotations

import numpy as np

import heedful
from heedful.audits.running import estimate
from heedful.audits.running import run as running
from heedful.audits.running.estimate import middling
from heedful.progress import Quiet

TEXTS = ["a fine film it holds up well", "dull film", "the plot is thin the jokes are old"]


class Ear(Quiet):
    """Hears what is said, and what begins after it."""

    def __init__(self):
        self.heard = []

    def say(self, line, *, good=""):
        self.heard.append(line)

    def bar(self, title, total, *, unit="texts", note=""):
        self.heard.append(title)
        return super().bar(title, total)


def heard(model, monkeypatch, **options):
    ear = Ear()
    monkeypatch.setattr("heedful.functions.audit.watcher", lambda shown: ear)
    found = heedful.audit(model, texts=TEXTS, **options)
    return ear.heard, found


def test_an_estimate_comes_before_the_audits_and_changes_nothing(toy_classifier, monkeypatch):
    model = toy_classifier()
    quiet, before = heard(model, monkeypatch)
    assert not any("about" in line for line in quiet)
    monkeypatch.setattr(estimate, "WORTH_TELLING", 10)
    monkeypatch.setattr(estimate, "PROBE", 8)
    told, after = heard(model, monkeypatch)
    (line,) = (line for line in told if "by a probe of" in line)
    assert "3 texts with 17 words or pieces: about 2 seconds, by a probe of 1." in line
    assert told.index("predictions") < told.index(line) < told.index(running.ALWAYS)
    for name, frame in before.frames.items():
        assert frame.equals(after.frames[name], null_equal=True), name


def test_texts_of_middling_length_are_measured(monkeypatch):
    monkeypatch.setattr(estimate, "PROBE", 25)
    assert middling(np.array([10, 500, 9, 8, 90, 1])).tolist() == [0, 2]
    assert middling(np.array([500])).tolist() == [0]
