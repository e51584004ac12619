"""How many words must be replaced to change the answer? Attacks from above; exact answers and certificates from below."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl
import torch
from torch import Tensor

from heedful.attacks.attack import ATTACKS
from heedful.attacks.attack_result import words_changed
from heedful.attacks.constraints.substitutes import KnownWords
from heedful.attacks.options import AttackOptions
from heedful.attacks.run_attack import victim_of
from heedful.attacks.tokens_in_reach import CUT, SPLIT, TokensInReach
from heedful.attacks.victim import knows_at
from heedful.audits.audit import Audit, Columns, Measure, Number, Summary, register
from heedful.audits.chart_kinds import dots
from heedful.audits.exhibits import Chart, Order
from heedful.audits.subject.attacked_rows import ATTACK_OPTIONS, attack_options, attacked_rows, check_attacks
from heedful.audits.subject.reading import Reading
from heedful.checking import build
from heedful.data.words.substitution import word_spans
from heedful.models.shorter import robustness
from heedful.output.numbers import percent, value
from heedful.progress import Watcher

if TYPE_CHECKING:
    from heedful.audits.subject.scope import Scope
from heedful.audits.subject.subject import Subject

WITHIN = (1, 2, 3)
"""Numbers of substitutions for which the exact robust accuracy is given."""
_SLACK = 1e-5
"""Attacks read in single precision: decisions nearer than this, relative to their terms, count as lost."""


@register
class RobustnessAudit(Audit):
    """Replaces words by synonyms until the decision changes, and proves where that cannot be done."""

    name = "robustness"
    revision = 2
    question = "How many words must be replaced by synonyms to change the answer?"
    paper = "flat"
    options = ATTACK_OPTIONS
    only_named = "It attacks every text, which takes long."
    scores_words = False
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
            "share of texts of which nothing can be proven: they count as not robust and not certified"
        ),
    }
    caveats = (
        "An attack is a search: that it finds nothing proves nothing. After-attack accuracy is an upper bound.",
        "Exact answers and certificates are about all combinations of the attacks' substitutes, with no regard to how similar "
        "the sentence stays: they are lower bounds of what is true of similar sentences.",
        "They do not hold for attacks that replace a word twice, insert or delete words, or ask the text as it is by now for "
        "substitutes (iga, clare, bae): nothing is proven of these.",
    )
    equation = (
        "sign Σ exp(score_i) · (g_i + b) is separable over words: the strongest k substitutions are a sort"
    )
    method = (
        "Each attack is run on every text. Where the decision is a sum over words (encoders without context, a linear decoder, "
        "one attention head or a mean) the smallest number of substitutions that changes it is found exactly, by sorting; for "
        "convolutions, several heads and other decoders bounds over all substitutes at once certify some texts. A text that "
        "an attack has changed counts as not robust, whatever was computed. So does one that a substitute could make longer "
        "than the model reads, or whose substitutes are no words of their own to the model."
    )
    order = Order("after_attack", "robustness", worst="lowest")
    labelled: bool = True
    proven_of: tuple[str, ...] = ()
    """Attacks of whose substitutes something can be proven."""

    @classmethod
    def refuses(cls, scope: Scope) -> str | None:
        """Words are replaced in the text itself."""
        return super().refuses(scope) or scope.paired()

    def check(self) -> None:
        """Every attack must be at hand."""
        check_attacks(self.config, self.config.attacks)

    def prepare(self, subject: Subject, watcher: Watcher) -> None:
        """Attack the texts, or find what was attacked before."""
        self.classifier, self.labelled = subject.classifier, subject.texts.labelled
        self.found: dict[str, dict[int, dict[str, Any]]] = {}
        proven_of = []
        assembled = []
        for recipe in self.config.attacks:
            frame = attacked_rows(subject, self.config, recipe, watcher)
            self.found[recipe] = {row["row"]: row for row in frame.iter_rows(named=True)}
            chosen = build(AttackOptions, attack_options(self.config, recipe))
            made = ATTACKS.get(recipe)(chosen)
            if made.by_original:
                proven_of.append(recipe)
                assembled.append(made)
        self.proven_of = tuple(proven_of)
        victim, _ = victim_of(subject.classifier)
        more = (KnownWords(knows_at(victim)),) if self.config.known_words else ()
        self.reach = None  # nobody needs all substitutes of all words where nothing can be proven of them
        if assembled and _provable(subject):
            self.reach = TokensInReach(subject.classifier.vocabulary, assembled, more)

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
                won[self.config.attacks[0]], [words_changed(r["changed"]) / max(1, r["words"]) for r in first]
            ),
            "only_unknown": torch.tensor(
                [float("nan") if r["only_unknown"] is None else float(r["only_unknown"]) for r in first],
                dtype=torch.float64,
            ),
            "attacked": [r["attacked"] for r in first],
        }
        columns |= {f"after_attack_{recipe}": (right & ~lost).double() for recipe, lost in won.items()}
        return columns | self._proven(reading, right, any_won)

    def _proven(self, reading: Reading, right: Tensor, lost: Tensor) -> dict[str, Tensor | list[object]]:
        """What is exact, or certain; NaN where model and attacks allow neither. What is not covered counts as lost."""
        nothing = torch.full((len(right),), torch.nan, dtype=torch.float64)
        proven = None
        if self.reach is not None:
            found_ids, reasons = self.reach.of(reading.batch.tokens)
            proven = robustness(reading.model, reading.batch, found_ids, slack=_SLACK)
        if proven is None:
            names = ("robust", "certified", "fewest", "uncovered", *(f"robust_{k}" for k in WITHIN))
            return {**dict.fromkeys(names, nothing), "why": [""] * len(right)}
        why = [
            reason or ("" if whole else SPLIT)
            for reason, whole in zip(reasons, proven.covered.tolist(), strict=True)
        ]
        covered = torch.tensor([not reason for reason in why])
        certified = proven.certified & covered & right & ~lost
        found: dict[str, Tensor | list[object]] = {
            "certified": certified.double(),
            "uncovered": (~covered).double(),
            "why": list[object](why),
        }
        if proven.smallest is None:
            names = ("robust", "fewest", *(f"robust_{k}" for k in WITHIN))
            return found | dict.fromkeys(names, nothing)
        fewest = proven.smallest.masked_fill(~covered, torch.nan)
        found |= {f"robust_{k}": ((fewest > k) & right).double() for k in WITHIN}  # NaN is not more
        found["robust"] = (torch.isinf(fewest) & right & ~lost).double()
        found["fewest"] = fewest.masked_fill(~right | torch.isinf(fewest), torch.nan)
        return found

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
        unproven = [recipe for recipe in self.config.attacks if recipe not in self.proven_of]
        by = f" by substitutes of {', '.join(self.proven_of)}" if unproven else ""
        if found["robust"].count:
            least = (
                ""
                if found["fewest"].estimate is None
                else f"; a change takes {value(found['fewest'])} words at the least on average"
            )
            sentence += (
                f"; {percent(found['robust_1'])} stay so whatever one word is replaced{by} and {percent(found['robust'])} whatever "
                f"all are, exactly{least}."
            )
        elif found["certified"].count:
            sentence += f"; for {percent(found['certified'])} it is proven that no combination of substitutes{by and ' of ' + ', '.join(self.proven_of)} changes that."
        elif not self.proven_of:
            sentence += "; nothing is proven: what these attacks may put into a text is not known from the text alone."
        else:
            sentence += "; for this model nothing is proven: it reads words in context, or nobody knows how."
        notes = [] if self.labelled else ["There are no labels: what the model decides is taken for right."]
        if unproven and self.proven_of:
            notes.append(
                f"Nothing is proven of {', '.join(unproven)}: what it may put into a text is not known from the text alone."
            )
        for reason in (SPLIT, CUT):
            if apart := int((rows["why"] == reason).sum()):
                notes.append(
                    f"{apart} texts {reason}; nothing is proven of them, and they count as not robust."
                )
        return self.summary(rows, sentence, numbers, *notes)


def _provable(subject: Subject) -> bool:
    """Whether anything can be proven of such a model: asked of one text, and no substitutes."""
    one = subject.texts.instances.batch(subject.texts.rows[0][:1])
    return robustness(subject.model, one, [[[] for _ in row] for row in word_spans(one.tokens)]) is not None


def _mean(rows: pl.DataFrame, column: str) -> float:
    found = rows[column].fill_nan(None).mean()
    return float(found) if isinstance(found, float) else float("nan")


def _where(rows: Tensor, values: list[float]) -> Tensor:
    return torch.tensor(values, dtype=torch.float64).masked_fill(~rows, torch.nan)
