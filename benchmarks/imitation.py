"""Twins against the plain way of training them: base run at every step, every token encoded, dense Adam.

Both train one epoch of a twin at a time, in turn and in this process with one thread, so that a busy machine slows
both alike: an average encoder on Mock-10, and a BiLSTM on sst2 (Mock-2 without HEEDFUL_DATA). Then three seeds are
trained by `train_twins`, on as many processes as there are cores, and in wall time against one alone.
"""

from __future__ import annotations

import copy
import tempfile
import time
from pathlib import Path

import numpy as np
import torch

import heedful
from heedful.data.corpora.reader import load_corpus
from heedful.data.corpora.sources import find_folder
from heedful.data.instances import Instances
from heedful.measures.divergence import LN_2, jsd, tvd
from heedful.models.classifier import Classifier
from heedful.models.model import AttentionModel, probabilities
from heedful.training.loop import Trainer
from heedful.training.objectives.imitation import ImitationObjective
from heedful.training.prepare import prepare
from heedful.training.train import resolve
from heedful.training.twins import train_twins

EPOCHS = 3


def plain_epoch(
    twin: AttentionModel,
    base: AttentionModel,
    optimiser: torch.optim.Optimizer,
    train: Instances,
    random: np.random.Generator,
) -> None:
    """What one would write first: shuffle, pad, run both models, step."""
    twin.train()
    order = random.permutation(len(train))
    for first in range(0, len(order), 32):
        batch = train.batch(order[first : first + 32])
        with torch.no_grad():
            theirs = base(batch)
        optimiser.zero_grad()
        ours = twin(batch)
        moved = tvd(probabilities(ours.logits), probabilities(theirs.logits))
        far = jsd(ours.weights[:, 0], theirs.weights[:, 0], batch.tokens.mask) / LN_2
        (moved - far).mean().backward()
        optimiser.step()


def compare(base: Classifier) -> None:
    config = resolve({"objective": "imitation", "base": str(base.run), "seed": 10})
    prepared = prepare(config, load_corpus(config))
    splits, ours = prepared.splits, prepared.classifier.model
    theirs = copy.deepcopy(ours)
    objective = ImitationObjective(ours, config=config)
    start = time.process_time()
    objective.prepare(splits)
    once = time.process_time() - start
    trainer = Trainer(ours, objective, config, metric="imitation")
    optimiser = torch.optim.Adam(theirs.parameters(), lr=1e-3, weight_decay=1e-5)
    random = np.random.default_rng(0)
    seconds: dict[str, list[float]] = {"heedful": [], "plain": []}
    for epoch in range(EPOCHS):
        start = time.process_time()
        trainer.train_epoch(splits["train"], epoch)
        middle = time.process_time()
        plain_epoch(theirs, base.model, optimiser, splits["train"], random)
        seconds["heedful"].append(middle - start)
        seconds["plain"].append(time.process_time() - middle)
    ratio = np.median(seconds["plain"]) / np.median(seconds["heedful"])
    print(
        f"{config.encoder} on {config.dataset}: plain {np.median(seconds['plain']):.1f}, heedful "
        f"{np.median(seconds['heedful']):.1f} CPU s an epoch ({once:.1f} s once for the base): {ratio:.1f} times faster"
    )


def seeds_together(base: Classifier, folder: Path) -> None:
    times = []
    for seeds in ((1,), (1, 2, 3, 4)):
        start = time.perf_counter()
        train_twins(base.run, seeds=seeds, runs=folder / f"{len(seeds)} seeds", epochs=3)
        times.append(time.perf_counter() - start)
    print(
        f"4 seeds take {times[1] / times[0]:.1f} times the wall time of one ({times[1]:.0f} s against {times[0]:.0f} s)"
    )


def main() -> None:
    torch.set_num_threads(1)
    short = "sst2" if find_folder("sst2") else "mock_2"
    with tempfile.TemporaryDirectory() as folder:
        for dataset, encoder in (("mock_10", "average"), (short, "bilstm")):
            base = heedful.train(
                dataset, encoder=encoder, preset="attefa", epochs=1, runs=folder, progress=False
            )
            compare(base)
            if encoder == "average":
                seeds_together(base, Path(folder))


if __name__ == "__main__":
    main()
