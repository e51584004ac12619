"""SEAT's inner maximum in closed form against the published search (PGD, ten steps), on the same states.

Both are asked for every text of sst2's test set (a Mock corpus without HEEDFUL_DATA), in turn and in this process
with one thread, for the value and its gradient: what a step of training needs. Also
counted: texts where the search finds less than the closed form, and by how much; it never finds more.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import torch
from torch import Tensor

import heedful
from heedful.config import ObjectiveOptions
from heedful.data.batches import inference_batches
from heedful.data.corpora.sources import find_folder
from heedful.declared import complete
from heedful.models.stages import States
from heedful.training.objectives.seat import Seat
from heedful.training.prepare import prepare
from heedful.training.train import load_corpus, resolve

TIMES = 3
NORMS = ("linf", "l2", "l1")


def main() -> None:
    torch.set_num_threads(1)
    real = find_folder("sst2") is not None
    dataset = "sst2" if real else "mock_2"
    options = {"encoder": "bilstm", "epochs": 2, "limit": 2000}
    with tempfile.TemporaryDirectory() as folder:
        model = heedful.train(dataset, runs=Path(folder), **options)
        config = resolve({"dataset": dataset, **options})
        test = prepare(config, load_corpus(config), say=lambda _: None).splits["test"]
    model.model.eval().requires_grad_(False)  # attention alone is trained by default, and states are given
    states: list[States] = []
    with torch.no_grad():
        for rows in inference_batches(test.lengths, 32):
            batch = test.batch(rows)
            states.append(model.model.encode(model.model.embed(batch), batch))
        weights = [model.model.attend(s) for s in states]
        logits = [model.model.decode(s, w) for s, w in zip(states, weights, strict=True)]
    print(
        f"{dataset}, {len(test):,} texts in {len(states)} batches, radius 0.001, best of {TIMES} in CPU time"
    )
    for norm in NORMS:
        seconds, found = {}, {}
        for _ in range(TIMES):
            for inner in ("pgd", "exact"):
                objective = Seat(
                    model.model, config=complete(ObjectiveOptions)(norm=norm, inner=inner, steps=10)
                )
                start = time.process_time()
                values = [_step(objective, *given) for given in zip(states, weights, logits, strict=True)]
                spent = time.process_time() - start
                seconds[inner] = min(spent, seconds.get(inner, spent))
                found[inner] = torch.cat(values)
        below = found["pgd"] < 0.99 * found["exact"]
        assert (found["pgd"] <= found["exact"] * (1 + 1e-3)).all()
        print(
            f"{norm:>5}: closed form {seconds['exact']:.2f} s, search {seconds['pgd']:.2f} s, "
            f"ratio {seconds['pgd'] / seconds['exact']:.1f}; the search finds less for {below.double().mean():.0%} "
            f"of the texts, on average {(found['pgd'] / found['exact'].clamp(min=1e-12)).mean():.2f} of the maximum"
        )


def _step(objective: Seat, states: States, weights: Tensor, logits: Tensor) -> Tensor:
    """The value and its gradient with respect to what the model says."""
    said = logits.clone().requires_grad_()
    value = objective.inner_maximum(states, weights, said)
    value.sum().backward()
    return value.detach()


if __name__ == "__main__":
    main()
