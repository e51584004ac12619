"""One epoch of training against the plain loop: shuffled padded batches and dense Adam. One thread each.

Both train the same BiLSTM (128 per direction, 300-d trainable embeddings, batch 32) on sst2 in this
process, epoch by epoch in turn, so that a busy machine slows both alike. Prints the ratio of the times
and both final F1 scores. Needs HEEDFUL_DATA with sst2; without it, runs on Mock-2.
"""

from __future__ import annotations

import copy
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

from heedful.config import TrainConfig
from heedful.data.corpora.loading import load_corpus
from heedful.data.corpora.sources import find_folder
from heedful.data.instances import Instances
from heedful.declared import complete
from heedful.models.model import AttentionModel
from heedful.training.evaluation import evaluate
from heedful.training.loop import Trainer
from heedful.training.objectives.vanilla import Vanilla
from heedful.training.prepare import prepare

EPOCHS = 4


class PaddedBiLSTM(nn.Module):
    """The encoder of a plain loop: both directions over the padding too."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.rnn = nn.LSTM(300, 128, batch_first=True, bidirectional=True)
        self.size = encoder.size

    def forward(self, embedded: torch.Tensor, present: torch.Tensor) -> torch.Tensor:
        return self.rnn(embedded)[0]


def plain_epoch(
    model: AttentionModel, optimiser: torch.optim.Optimizer, train: Instances, random: np.random.Generator
) -> None:
    """What one would write first: shuffle, pad each batch to its longest text, step."""
    model.train()
    order = random.permutation(len(train))
    for first in range(0, len(order), 32):
        batch = train.batch(order[first : first + 32])
        optimiser.zero_grad()
        logits = model(batch).logits
        nn.functional.binary_cross_entropy_with_logits(logits[:, 0], batch.labels.float()).backward()
        optimiser.step()


def main() -> None:
    torch.set_num_threads(1)
    dataset = "sst2" if find_folder("sst2") else "mock_2"
    config = complete(TrainConfig)(dataset=dataset, epochs=EPOCHS, patience=None, clip=None, batch_size=32)
    prepared = prepare(config, load_corpus(config), say=lambda _: None)
    train, test = prepared.splits["train"], prepared.splits["test"]
    ours = prepared.classifier.model
    theirs = copy.deepcopy(ours)
    theirs.encoder = PaddedBiLSTM(theirs.encoder)
    optimiser = torch.optim.Adam(theirs.parameters(), lr=1e-3, weight_decay=1e-5)
    trainer = Trainer(ours, Vanilla(ours), config, metric="f1")
    random = np.random.default_rng(0)
    seconds = {"heedful": [], "plain": []}
    for epoch in range(EPOCHS):
        start = time.process_time()
        trainer.train_epoch(train, epoch)
        middle = time.process_time()
        plain_epoch(theirs, optimiser, train, random)
        end = time.process_time()
        seconds["heedful"].append(middle - start)
        seconds["plain"].append(end - middle)
    scores = {"heedful": evaluate(ours, test)["f1"], "plain": evaluate(theirs, test)["f1"]}
    for name, times in seconds.items():
        print(
            f"{name:8} {np.median(times):6.1f} CPU s an epoch   test F1 {scores[name]:.3f} after {EPOCHS} epochs"
        )
    print(
        f"{dataset}: {np.median(seconds['plain']) / np.median(seconds['heedful']):.2f} times faster ({Path(__file__).name})"
    )


if __name__ == "__main__":
    main()
