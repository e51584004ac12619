"""A published attack on a classifier's training texts, as rounds of training ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import polars as pl

from heedful.attacks.attack import ATTACKS, Attack
from heedful.attacks.draft import Source
from heedful.attacks.options import AttackOptions
from heedful.attacks.run_attack import NoCandidates, attack
from heedful.data.attacked import AttackedTexts
from heedful.models.classifier import Classifier
from heedful.runs import identity
from heedful.training.rounds import NothingFound


class PublishedAttack:
    """An attack by its options, assembled once however often it is called."""

    def __init__(self, options: AttackOptions) -> None:
        self.options = options
        ATTACKS.get(options.recipe)  # a misspelt name is said at once

    @cached_property
    def assembled(self) -> Attack:
        """The attack with everything that it needs, which may take seconds to read."""
        return ATTACKS.get(self.options.recipe)(self.options)

    @property
    def name(self) -> str:
        """The recipe, and a hash of the options that differ from the published ones; files and models count by what they hold."""
        values = self.options.deciding()
        return f"{self.options.recipe}-{identity(values)}" if values else self.options.recipe

    def __call__(self, texts: Sequence[str], labels: Sequence[int], classifier: Classifier) -> AttackedTexts:
        """Attack every text that has a word; one without any stays as it is.

        Raises `NothingFound`, with the texts as they are, where no word of any of them has a candidate.
        """
        frame = pl.DataFrame(
            {"row": range(len(texts)), "original": texts, "attacked": texts, "label": labels},
            schema_overrides={"row": pl.Int64, "label": pl.Int64},
        ).with_columns(status=pl.lit("skipped"))
        places = [place for place, text in enumerate(texts) if Source.cut(text).words]
        if not places:
            return AttackedTexts.from_frame(frame.with_columns(changed=pl.Series([[]] * len(texts))))
        nothing: NoCandidates | None = None
        try:
            found = attack(
                classifier,
                [texts[place] for place in places],
                [labels[place] for place in places],
                assembled=self.assembled,
                **self.options.model_dump(exclude_defaults=True, exclude={"limit"}),
            ).to_frame()
        except NoCandidates as error:
            nothing, found = error, error.frame
        found = found.with_columns(row=pl.Series(places, dtype=pl.Int64))
        rest = frame.filter(~pl.col("row").is_in(places))
        kept = found.select("row", "original", "attacked", "label", "status", "changed")
        whole = pl.concat([kept, rest], how="diagonal").with_columns(pl.col("changed").fill_null([]))
        result = AttackedTexts.from_frame(whole.sort("row"))
        if nothing is not None:
            raise NothingFound(str(nothing), result)
        return result
