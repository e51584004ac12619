"""Parts of an attack as pieces of work: 256 texts each, attacked wherever the user chose."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from heedful.scale.chosen import spreads
from heedful.scale.piece import Outcome, Piece
from heedful.scale.share_out import share_out

if TYPE_CHECKING:
    from heedful.attacks.attacked_part import Assembled, Elsewhere, Part, PartDone


def parts_elsewhere(
    model: Mapping[str, Any], options: Mapping[str, Any], classifier: Any
) -> Elsewhere | None:
    """Give what does parts where the user chose; None where that is this process, or where it cannot be done.

    `model` names the classifier for `find_model`. Of a function it is not known that it may be asked by several at once.
    """
    from heedful.models.stages import Opaque

    if not spreads() or isinstance(classifier.model, Opaque):
        return None

    def do(parts: Sequence[Part], done: Callable[[PartDone], None]) -> None:
        pieces = [
            Piece(
                f"texts {part.rows[0] + 1} to {part.rows[-1] + 1}",
                do_part,
                {
                    "model": dict(model),
                    "options": dict(options),
                    "rows": list(part.rows),
                    "texts": [source.text for source in part.sources],
                    "labels": list(part.labels),
                },
            )
            for part in parts
        ]

        def take(_: int, outcome: Outcome) -> None:
            if not outcome.problem:
                done(_part_done(outcome.value))

        for outcome in share_out(pieces, done=take):
            outcome.taken()

    return do


def do_part(config: Mapping[str, Any]) -> dict[str, Any]:
    """Attack the texts of one part."""
    import polars as pl

    from heedful.attacks.attacked_part import Part
    from heedful.attacks.draft import Source

    assembled = _assembled(json.dumps([config["model"], config["options"]]))
    sources = [Source.cut(text) for text in config["texts"]]
    found: list[PartDone] = []
    assembled.do(Part(config["rows"], sources, config["labels"]), found.append)
    rows = io.BytesIO()
    pl.concat([done.frame for done in found]).write_parquet(rows)
    return {
        "rows": rows.getvalue(),
        "attacked": sum(done.attacked for done in found),
        "proposed": any(done.proposed for done in found),
    }


def _part_done(value: Mapping[str, Any]) -> PartDone:
    import polars as pl

    from heedful.attacks.attacked_part import PartDone

    return PartDone(pl.read_parquet(io.BytesIO(value["rows"])), value["attacked"], value["proposed"])


@lru_cache(maxsize=1)
def _assembled(named: str) -> Assembled:
    """Load a model and assemble an attack once for all parts that this process does."""
    from heedful.attacks.attacked_part import Assembled
    from heedful.loading import find_model

    model, options = json.loads(named)
    return Assembled.of(find_model(**model), options)
