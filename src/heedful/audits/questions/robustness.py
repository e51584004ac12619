"""How many words must be replaced to change the answer? Attacks from above; exact answers and certificates from below."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl
import torch
from torch import Tensor

from heedful.attacks.attack import ATTACKS
from heedful.attacks.candidates.edits import Edits
from heedful.attacks.constraints.substitutes import KnownWords
from heedful.attacks.draft import Source
from heedful.attacks.options import AttackOptions
from heedful.attacks.reach import substitutes
from heedful.attacks.run_attack import victim_of
from heedful.audits.audit import Audit, Columns, Measure, Number, Summary, register
from heedful.audits.chart_kinds import dots
from heedful.audits.exhibits import Chart, Order
from heedful.audits.subject.attacked_rows import ATTACK_OPTIONS, attack_options, attacked_rows, check_attacks
from heedful.audits.subject.reading import Reading
from heedful.checking import build
from heedful.data.words.substitution import word_spans
from heedful.models.shorter import Substitutes, robustness
from heedful.output.numbers import percent, value
from heedful.progress import Watcher

if TYPE_CHECKING:
    from heedful.audits.subject.subject import Subject

WITHIN = (1, 2, 3)
"""Numbers of substitutions for which the exact robust accuracy is given."""
_SLACK = 1e-5
"""Attacks read in single precision: decisions nearer than this, relative to their terms, count as lost."""


@register
class RobustnessAudit(Audit):
    """Replaces words by synonyms until the decision changes, and proves where that cannot be done."""

    name = "robustness"
    question = "How many words must be replaced by synonyms to change the answer?"
    paper = "flat"
    options = ATTACK_OPTIONS
    only_named = "It attacks every text, which takes long."
    does = "changes words"
    compared = ("accuracy", "after_attack", "certified")
    measures: ClassVar = {
        "accuracy": Measure("share of texts that are right before an attack", better="higher"),
        "after_attack": Measure(
            "share of texts that are right before and under every attack asked",
            better="higher",
            plain="{} of the texts are right under every attack that was tried.",
        ),
        "robust": Measure(
            "share of texts that are right whatever words are replaced by the attacks' substitutes: exact",
            better="higher",
        ),
        **{
            f"robust_{k}": Measure(
                f"share of texts that are right with any {k} words replaced: exact", better="higher"
            )
            for k in WITHIN
        },
        "certified": Measure(
            "share of texts that are right and proven to stay so under all combinations of substitutes",
            better="higher",
            plain="For {} of the texts it is proven that no combination of substitutes changes a right answer.",
        ),
        "fewest": Measure(
            "fewest substitutions that change a right answer: exact", high=float("inf"), better="higher"
        ),
        "words_changed": Measure(
            "share of the words that the first attack replaced where it succeeded", better="higher"
        ),
        "only_unknown": Measure(
            "share of the first attack's successes that fail without words the model cannot read"
        ),
        "uncovered": Measure(
            "share of texts whose substitutes are split into words otherwise than the model's"
        ),
    }
    caveats = (
        "An attack is a search: that it finds nothing proves nothing. After-attack accuracy is an upper bound.",
        "Exact answers and certificates are about all combinations of the attacks' substitutes, with no regard to how similar "
        "the sentence stays: they are lower bounds of what is true of similar sentences.",
        "They do not hold for attacks that replace a word twice, insert or delete words.",
    )
    equation = (
        "sign Σ exp(score_i) · (g_i + b) is separable over words: the strongest k substitutions are a sort"
    )
    method = (
        "Each attack is run on every text. Where the decision is a sum over words (encoders without context, a linear decoder, "
        "one attention head or a mean) the smallest number of substitutions that changes it is found exactly, by sorting; for "
        "convolutions, several heads and other decoders bounds over all substitutes at once certify some texts. A text that "
        "an attack has changed counts as not robust, whatever was computed."
    )
    order = Order("after_attack", "robustness", worst="lowest")
    labelled: bool = True

    def check(self) -> None:
        """Every attack must be at hand."""
        check_attacks(self.config, self.config.attacks)

    def prepare(self, subject: Subject, watcher: Watcher) -> None:
        """Attack the texts, or find what was attacked before."""
        self.classifier, self.labelled = subject.classifier, subject.texts.labelled
        self.found: dict[str, dict[int, dict[str, Any]]] = {}
        self.assembled = []
        for recipe in self.config.attacks:
            frame = attacked_rows(subject, self.config, recipe, watcher)
            self.found[recipe] = {row["row"]: row for row in frame.iter_rows(named=True)}
            chosen = build(AttackOptions, attack_options(self.config, recipe))
            made = ATTACKS.get(recipe)(chosen)
            if not isinstance(
                made.candidates, Edits
            ):  # insertions are no substitutions: nothing is proven of them
                self.assembled.append(made)
        victim, _ = victim_of(subject.classifier)
        self.more = (KnownWords(victim.knows),) if self.config.known_words else ()

    def rows(self, reading: Reading) -> Columns:
        """Take what the attacks found, and prove what can be proven."""
        numbers = reading.rows.tolist()
        each = {recipe: [found[row] for row in numbers] for recipe, found in self.found.items()}
        first = each[self.config.attacks[0]]
        right = torch.tensor([row["status"] != "skipped" for row in first])
        won = {
            recipe: torch.tensor([r["status"] == "successful" for r in rows]) for recipe, rows in each.items()
        }
        any_won = torch.stack(list(won.values())).any(0)
        columns: dict[str, Tensor | list[object]] = {
            "accuracy": right.double(),
            "after_attack": (right & ~any_won).double(),
            "words_changed": _where(
                won[self.config.attacks[0]], [len(r["changed"]) / r["words"] for r in first]
            ),
            "only_unknown": torch.tensor(
                [float("nan") if r["only_unknown"] is None else float(r["only_unknown"]) for r in first],
                dtype=torch.float64,
            ),
            "attacked": [r["attacked"] for r in first],
        }
        columns |= {f"after_attack_{recipe}": (right & ~lost).double() for recipe, lost in won.items()}
        return columns | self._proven(reading, right, any_won)

    def _proven(self, reading: Reading, right: Tensor, lost: Tensor) -> dict[str, Tensor]:
        """What is exact, or certain; NaN where the model allows neither."""
        nothing = torch.full((len(right),), torch.nan, dtype=torch.float64)
        proven = None
        if _provable(reading):  # otherwise nobody needs all substitutes of all words
            given, covered = self._substitutes(reading)
            proven = robustness(reading.model, reading.batch, given, slack=_SLACK)
        if proven is None:
            names = ("robust", "certified", "fewest", "uncovered", *(f"robust_{k}" for k in WITHIN))
            return dict.fromkeys(names, nothing)
        covered &= proven.covered
        certified = proven.certified & covered & right & ~lost
        found = {"certified": certified.double(), "uncovered": (~covered).double()}
        if proven.smallest is None:
            names = ("robust", "fewest", *(f"robust_{k}" for k in WITHIN))
            return found | dict.fromkeys(names, nothing)
        fewest = proven.smallest.masked_fill(~covered, torch.nan)
        holds = {f"robust_{k}": (fewest > k) & right & (covered) for k in WITHIN}
        robust = torch.isinf(fewest) & right & ~lost
        found |= {name: held.double().masked_fill(~covered, torch.nan) for name, held in holds.items()}
        found["robust"] = robust.double().masked_fill(~covered, torch.nan)
        found["fewest"] = fewest.masked_fill(~right | torch.isinf(fewest), torch.nan)
        return found

    def _substitutes(self, reading: Reading) -> tuple[Substitutes, Tensor]:
        """Give the token ids of every substitute of every word, of all attacks, and which texts allow that."""
        tokens = reading.batch.tokens
        spans = word_spans(tokens)
        sources = [Source.cut(text) for text in tokens.texts]
        proposed = [substitutes(attack, sources, *self.more) for attack in self.assembled]
        given: list[list[list[list[int]]]] = [[[] for _ in row] for row in spans]
        covered = torch.ones(len(spans), dtype=torch.bool)
        for number, source in enumerate(sources):
            place_of = {span: place for place, span in enumerate(spans[number])}
            for position, span in enumerate(source.spans):
                words = [word for some in proposed for word in some[number][position]]
                if not words:
                    continue
                if span not in place_of:
                    covered[number] = False  # the model cuts this word otherwise
                    continue
                given[number][place_of[span]] = self._ids(list(dict.fromkeys(words)))
        return given, covered

    def _ids(self, words: list[str]) -> list[list[int]]:
        flat = self.classifier.vocabulary.encode(words)
        return [flat.ids[flat.rows[i] : flat.rows[i + 1]].tolist() for i in range(len(words))]

    def charts(self, rows: pl.DataFrame) -> list[Chart]:
        """What is right before and under attack, and what is proven."""
        labels = {"accuracy": "before an attack"}
        labels |= {f"after_attack_{recipe}": f"under {recipe}" for recipe in self.config.attacks}
        labels |= {f"robust_{k}": f"any {k} replaced, exact" for k in WITHIN}
        labels |= {"robust": "all replaced, exact", "certified": "certified"}
        found = {label: _mean(rows, column) for column, label in labels.items() if column in rows.columns}
        return [
            dots(
                {label: share for label, share in found.items() if not math.isnan(share)},
                title="Right answers under attack",
                axis="share of the texts",
                caption="Attacks are upper bounds, what is exact or certified lower ones.",
            )
        ]

    def summarise(self, rows: pl.DataFrame) -> Summary:
        """Average over texts; each attack stands apart too."""
        found = {name: self.number(name, rows[name]) for name in self.measures}
        numbers: list[Number] = list(found.values())
        for recipe in self.config.attacks:
            numbers.append(self.number("after_attack", rows[f"after_attack_{recipe}"], recipe))
        right = "right" if self.labelled else "decided as before"
        sentence = (
            f"Of the texts {percent(found['accuracy'])} are right before an attack and {percent(found['after_attack'])} {right} "
            f"under {', '.join(self.config.attacks)}"
        )
        if found["robust"].count:
            sentence += (
                f"; {percent(found['robust_1'])} stay so whatever one word is replaced and {percent(found['robust'])} whatever all "
                f"are, exactly; a change takes {value(found['fewest'])} words at the least on average."
            )
        elif found["certified"].count:
            sentence += f"; for {percent(found['certified'])} it is proven that no combination of substitutes changes that."
        else:
            sentence += "; for this model nothing is proven: it reads words in context, or nobody knows how."
        note = "" if self.labelled else "There are no labels: what the model decides is taken for right."
        apart = int(rows["uncovered"].fill_nan(0).sum())
        split = f"{apart} texts have substitutes that the model splits otherwise; nothing is proven of them."
        return self.summary(rows, sentence, numbers, note, split if apart else "")


def _provable(reading: Reading) -> bool:
    """Whether anything can be proven of such a model: asked of one text, and no substitutes."""
    one = reading.batch.take(torch.tensor([0]))
    return robustness(reading.model, one, [[[] for _ in row] for row in word_spans(one.tokens)]) is not None


def _mean(rows: pl.DataFrame, column: str) -> float:
    found = rows[column].fill_nan(None).mean()
    return float(found) if isinstance(found, float) else float("nan")


def _where(rows: Tensor, values: list[float]) -> Tensor:
    return torch.tensor(values, dtype=torch.float64).masked_fill(~rows, torch.nan)
