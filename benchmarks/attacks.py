"""How much faster attacks are than TextAttack's, whose CPU time stands in the reference rows, and than a plain loop.

One process, one thread, the victim and texts of the folder reference/attacks beside HEEDFUL_DATA; minilm-l6 and wordnet must
have been fetched. `python benchmarks/attacks.py 100` uses 100 texts.

The plain loop does what TextAttack does, in our code: one text at a time, every text read by itself, constraints before the
victim. It is measured in the same run, on fewer texts, because machines differ and are busy. TextAttack's time is scaled by how
much longer the loop takes now than it took when this was written (`CASES`). That loop was not timed beside TextAttack, so the
scaled ratio follows changes of ours and of the machine from then on, and is no second measurement of TextAttack: the ratios to
the recorded time and to the plain loop are what was measured.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

import heedful
from heedful.attacks.attack import ATTACKS, Attack
from heedful.attacks.classifier_victim import ClassifierVictim
from heedful.attacks.constraints.sentence_encoder import SentenceEncoder
from heedful.attacks.constraints.sentence_similarity import SentenceSimilarity
from heedful.attacks.draft import Source
from heedful.attacks.driver import Attacked, Driver
from heedful.attacks.options import AttackOptions
from heedful.attacks.space import SearchSpace
from heedful.attacks.victim import FunctionVictim, Victim
from heedful.data.fetch import assets

PLAIN_TEXTS = 30
CASES = {
    # name: options, and the plain loop's part of TextAttack's recorded time on the same texts, when this was written
    "pwws": ({"recipe": "pwws"}, 0.47),
    "textfooler": ({"recipe": "textfooler"}, 0.80),
    "textfooler_nosim": ({"recipe": "textfooler", "similarity": False}, 0.43),
}


def run(
    attack: Attack, victim: Victim, rows: Sequence[dict[str, Any]], *, together: int = 256
) -> dict[int, Attacked]:
    done: dict[int, Attacked] = {}
    texts = ((row["i"], Source.cut(row["original"]), row["label"]) for row in rows)
    Driver(attack, victim, SearchSpace(attack), together=together).run(
        texts, done=lambda text: done.__setitem__(text.number, text)
    )
    return done


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    begun = time.process_time()
    found = work()
    return time.process_time() - begun, found


def plain(attack: Attack, model: Any) -> tuple[Attack, Victim]:
    """The same attack as TextAttack carries it out."""
    constraints = tuple(
        SentenceSimilarity(SentenceEncoder(_asset("minilm-l6"), plain=True), least=0.840845057)
        if isinstance(constraint, SentenceSimilarity)
        else constraint
        for constraint in attack.constraints
    )

    def read(texts: list[str]) -> list[list[float]]:
        return [list(found.probabilities.values()) for found in model.predict(texts)]

    return replace(attack, constraints=constraints, lazy=False), FunctionVictim(read)


def main() -> None:
    torch.set_num_threads(1)
    texts = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    folder = Path(os.environ.get("HEEDFUL_DATA", "")).expanduser().parent / "reference" / "attacks"
    if not folder.is_dir() or not all(assets.find(name) for name in ("minilm-l6", "wordnet")):
        print("skipped: needs reference/attacks beside HEEDFUL_DATA, and heedful data get minilm-l6 wordnet")
        return
    model = heedful.load(folder / "victim-lstm")
    for name, (given, usual) in CASES.items():
        content = (folder / f"{name}_lstm_sst2_test000-199.jsonl").read_text(encoding="utf-8")
        rows = [json.loads(line) for line in content.splitlines()][:texts]
        options = AttackOptions(**given, vectors=str(folder / "counterfitted_glove.npz"))
        attack = ATTACKS.get(options.recipe)(options)
        run(attack, ClassifierVictim(model), rows[:3])  # warms up
        attack = ATTACKS.get(options.recipe)(options)  # and forgets
        ours, found = seconds(lambda attack=attack, rows=rows: run(attack, ClassifierVictim(model), rows))
        few = rows[:PLAIN_TEXTS]
        loop, again = seconds(lambda attack=attack, few=few: run(*plain(attack, model), few, together=1))
        recorded, recorded_few = (sum(row["cpu"] for row in some) for some in (rows, few))
        scaled = recorded * loop / recorded_few / usual
        same = np.mean([found[row["i"]].status == row["status"] for row in rows])
        ids = np.mean(
            [_ids(model, found[row["i"]].draft.text) == _ids(model, row["perturbed"]) for row in rows]
        )
        alike = all(again[row["i"]].draft.text == found[row["i"]].draft.text for row in few)
        print(
            f"{name:17} {len(rows)} texts: ours {ours:5.1f} s   TextAttack {recorded:5.1f} s as recorded, {recorded / ours:4.1f}×; "
            f"{scaled:5.1f} s scaled, {scaled / ours:4.1f}×   plain loop {recorded * loop / recorded_few / ours:4.1f}× "
            f"({loop / recorded_few:.2f} of TextAttack)   status {same:.1%}, ids {ids:.1%}, as the loop {alike}"
        )


def _ids(model: Any, text: str) -> list[int]:
    ids: list[int] = model.vocabulary.encode([text]).ids.tolist()
    return ids


def _asset(name: str) -> Path:
    folder = assets.find(name)
    assert folder is not None
    return folder


if __name__ == "__main__":
    main()
