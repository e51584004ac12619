"""What an attack gives back: a row for every text, and the numbers of all."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl
from pydantic import BaseModel, ConfigDict, ValidationError

from heedful import reporting
from heedful.attacks.cut import word_spans
from heedful.attacks.driver import Attacked
from heedful.errors import BadInput
from heedful.intake.frames import read_frame
from heedful.intake.json_text import read_json
from heedful.intake.unreadable import Unreadable
from heedful.output.numbers import percentage
from heedful.storage import write_bytes, write_json

if TYPE_CHECKING:
    from heedful.output.terminal import Screen

ABOUT, ROWS = "attack.json", "rows.parquet"

_CHANGED = pl.Struct(
    {"word": pl.Int64, "old": pl.String, "new": pl.String, "start": pl.Int64, "end": pl.Int64,
     "new_start": pl.Int64, "new_end": pl.Int64}
)  # fmt: skip
SCHEMA: dict[str, Any] = {
    "row": pl.Int64, "label": pl.Int64, "status": pl.String, "original": pl.String, "attacked": pl.String,
    "queries": pl.Int64, "read": pl.Int64, "predicted": pl.Int64, "predicted_after": pl.Int64,
    "probabilities": pl.List(pl.Float64), "probabilities_after": pl.List(pl.Float64),
    "words": pl.Int64, "changed": pl.List(_CHANGED), "unknown": pl.Boolean, "only_unknown": pl.Boolean,
}  # fmt: skip


class About(BaseModel):
    """What was attacked, and how: everything needed to do it again."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str
    labels: tuple[str, ...] | None
    """Names of the classes; None where the model has none, and classes are numbers."""
    data: str
    recipe: str
    options: dict[str, Any]
    identity: str
    """Changes with the victim, the texts, their labels, and every option that counts."""
    texts: int
    labelled: bool = True
    """Whether texts came with labels; without, what the model says of them is taken for true."""

    def class_name(self, number: int) -> str:
        """Name a class."""
        return self.labels[number] if self.labels is not None else f"class {number}"


class AttackNumbers(NamedTuple):
    """The numbers of an attack; NaN where there is nothing to count."""

    texts: int
    successful: int
    failed: int
    skipped: int
    accuracy: float
    """Before the attack; NaN where there were no labels."""
    after_attack_accuracy: float
    """Share of the texts that stay right; without labels, that keep their answer."""
    words_changed: float
    """Mean share of the words replaced, of successful attacks."""
    queries: float
    """Mean of the texts that were attacked."""
    unknown: float
    """Share of successful attacks with a substitute that the victim does not know."""
    only_unknown: float
    """Share of successful attacks that fail once the unknown substitutes are put back."""


@dataclass(frozen=True, repr=False)
class AttackResult:
    """`to_frame()`, `numbers`, `show()`, `save()`, `report()`."""

    about: About
    frame: pl.DataFrame
    folder: Path | None = None

    def __repr__(self) -> str:
        n, about = self.numbers, self.about
        after = percentage(n.after_attack_accuracy, 1)
        accuracies = f"accuracy {percentage(n.accuracy, 1)} before and {after} after"
        if not about.labelled:
            accuracies = f"{after} of the answers are kept (there are no labels)"
        return (
            f"AttackResult: {about.recipe} succeeds on {n.successful:,} of {n.successful + n.failed:,} attacked texts of {about.data}; "
            f"{accuracies}; show() tells more"
        )

    def _repr_html_(self) -> str:
        """What a notebook shows: the numbers, and some texts before and after."""
        from heedful.attacks.attack_html import attack_html

        return attack_html(self)

    def to_frame(self) -> pl.DataFrame:
        """Give a row for every text, in their order.

        `status` is successful, failed (and `attacked` is the best that was found) or skipped (wrong before the attack).
        `changed` lists the replaced words with their places, in characters, in both texts. `unknown` and `only_unknown`
        say of a success whether the victim cannot read some substitute, and whether it fails without these.
        """
        return self.frame

    @property
    def numbers(self) -> AttackNumbers:
        """Count what came of it."""
        frame = self.frame
        counts = {name: int((frame["status"] == name).sum()) for name in ("successful", "failed", "skipped")}
        attacked = frame.filter(pl.col("status") != "skipped")
        won = frame.filter(pl.col("status") == "successful")
        share = pl.Series([words_changed(row["changed"]) / row["words"] for row in won.iter_rows(named=True)])
        total = len(frame)
        return AttackNumbers(
            texts=total,
            **counts,
            accuracy=_ratio(total - counts["skipped"], total) if self.about.labelled else math.nan,
            after_attack_accuracy=_ratio(counts["failed"], total),
            words_changed=_mean(share),
            queries=_mean(attacked["queries"]),
            unknown=_mean(won["unknown"]),
            only_unknown=_mean(won["only_unknown"]),
        )

    def show(self, screen: Screen | None = None, *, texts: int = 5) -> None:
        """Print the numbers, and some texts before and after."""
        from heedful.attacks.show_attack import show
        from heedful.output.terminal import Screen

        show(self, screen or Screen(), texts=texts)

    def save(self, folder: str | Path) -> Path:
        """Write the rows (Parquet) and what they are of (JSON); `AttackResult.load` reads them back."""
        folder = Path(folder)
        write_json(folder / ABOUT, self.about.model_dump(mode="json"))
        write_frame(folder / ROWS, self.frame)
        return folder

    def report(self, path: str | Path) -> Path:
        """Write one HTML file: original beside attacked, the replaced words marked."""
        assert reporting.attack_writer is not None  # the package names one before anything else
        return reporting.attack_writer(self, Path(path))

    @classmethod
    def load(cls, folder: str | Path) -> AttackResult:
        """Read what `save` or `heedful attack` wrote."""
        folder = Path(folder)
        if not (folder / ROWS).is_file():
            raise BadInput(
                f"There is no finished attack in {folder} ({ROWS} is missing): run heedful attack."
            )
        return cls(read_about(folder), read_rows(folder / ROWS), folder)


def words_changed(changed: Sequence[Mapping[str, Any]]) -> int:
    """How many words were replaced, merged or put in: of two that were merged both count.

    >>> words_changed([{"old": "very fine"}, {"old": "film"}, {"old": ""}])
    4
    """
    return sum(max(1, len(word_spans(change["old"]))) for change in changed)


def read_about(folder: Path) -> About:
    """Read what an attack is of."""
    try:
        return About(**read_json(folder / ABOUT))
    except (OSError, ValueError, TypeError, ValidationError) as error:
        reason = str(error).splitlines()[0]
        raise BadInput(
            f"{folder / ABOUT} is damaged ({reason}): delete the folder and attack again."
        ) from None


def read_rows(path: Path) -> pl.DataFrame:
    """Read rows, or say that they are damaged."""
    try:
        frame = read_frame(path)
    except Unreadable as error:
        raise BadInput(f"{path} is damaged ({error}): delete its folder and attack again.") from None
    if dict(frame.schema) != SCHEMA:
        raise BadInput(f"{path} is of another version of heedful: delete its folder and attack again.")
    return frame


def write_frame(path: Path, frame: pl.DataFrame) -> None:
    """Write a Parquet file whole or not at all."""
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    write_bytes(path, buffer.getvalue())


def frame_of(texts: list[Attacked], unknown: dict[int, tuple[bool, bool]]) -> pl.DataFrame:
    """Lay out what became of texts, in the order of their numbers; `unknown` by number, where that is known."""
    rows = []
    for text in sorted(texts, key=lambda one: one.number):
        uses, only = unknown.get(text.number, (None, None))
        rows.append(
            {
                "row": text.number,
                "label": text.label,
                "status": text.status,
                "original": text.source.text,
                "attacked": text.draft.text,
                "queries": text.queries,
                "read": text.read,
                "predicted": int(text.before.argmax()),
                "predicted_after": int(text.after.argmax()),
                "probabilities": text.before.tolist(),
                "probabilities_after": text.after.tolist(),
                "words": len(text.source),
                "changed": [
                    dict(
                        zip(
                            _CHANGED.to_schema(),
                            (c.position, c.old, c.new, *c.span, *c.new_span),
                            strict=True,
                        )
                    )
                    for c in text.draft.changes()
                ],
                "unknown": uses,
                "only_unknown": only,
            }
        )
    return pl.DataFrame(rows, schema=SCHEMA)


def _ratio(part: int, whole: int) -> float:
    return part / whole if whole else math.nan


def _mean(values: pl.Series) -> float:
    found = values.cast(pl.Float64).mean()
    return float(found) if isinstance(found, float) else math.nan
