"""What is true of a heatmap, measured where the evidence is known: does it point at what the model needed?"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from heedful.audits.questions.plausibility import marked_words
from heedful.audits.subject.subject import Subject
from heedful.audits.subject.words import words_in
from heedful.data.corpora.synthetic.planted import planted_in
from heedful.explainers.reread import probabilities_without

NEEDED = 0.1
"""Of probability: a text needs its evidence where the answer loses this much without it."""


class Truth(NamedTuple):
    """Over the texts that need their evidence: how much of what a heatmap puts first is evidence."""

    share: float
    random_share: float
    """The same share of a word picked at random."""
    texts: int
    """How many texts need their evidence, and are counted."""
    asked: int
    """Of how many."""
    without: float
    """Accuracy when the evidence is deleted."""
    alone: float
    """Accuracy when nothing but the evidence is left."""

    @property
    def score(self) -> float:
        """From chance (0) to every text (1)."""
        return (self.share - self.random_share) / (1 - self.random_share) if self.texts else float("nan")


def measure_truth(subject: Subject) -> Truth:
    """Delete the evidence of every text, and everything else, and look where the heatmap points.

    Of evidence that somebody marked, one word may do, and the first word of the heatmap is looked at. Of planted words all
    are needed, and as many first words are looked at as were planted (precision at k of Bastings et al. 2022).
    """
    hits, random_shares, without, alone = [], [], [], []
    trained = subject.classifier.trained
    planted = trained is not None and planted_in(trained.dataset) is not None
    asked = 0
    for reading in subject.readings(np.concatenate(subject.texts.rows)):
        batch = reading.batch
        words = words_in(reading.model, batch)
        marked = marked_words(reading.model, batch, words, subject.texts.instances)
        each = torch.arange(len(marked))
        kept = torch.cat([words.mask & ~marked, marked])
        after = probabilities_without(reading.model, batch, each.repeat(2), words.items(each.repeat(2), kept))
        decided = reading.probabilities.argmax(-1)
        lost = (
            reading.probabilities.gather(1, decided[:, None])[:, 0]
            - after[: len(each)].gather(1, decided[:, None])[:, 0]
        )
        needs = (lost >= NEEDED) & marked.any(1)
        size = marked.sum(1).clamp(min=1) if planted else torch.ones(len(each), dtype=torch.long)
        first = words.ranks(words.scores(reading.scores(subject.source))) < size[:, None]
        hits += ((first & marked).sum(1) / size)[needs].tolist()
        random_shares += (marked.sum(1) / words.counts)[needs].tolist()
        right = after.argmax(-1) == batch.labels.repeat(2)
        without += right[: len(each)].tolist()
        alone += right[len(each) :].tolist()
        asked += len(each)
    share, random_share = (
        float(np.mean(found)) if found else float("nan") for found in (hits, random_shares)
    )
    return Truth(share, random_share, len(hits), asked, float(np.mean(without)), float(np.mean(alone)))
