"""The training loop, in small steps that a subclass or an objective can replace."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from heedful.config import TrainingOptions
from heedful.data.batches import training_batches
from heedful.data.instances import Batch, Instances
from heedful.errors import Diverged
from heedful.models.model import AttentionModel
from heedful.progress import QUIET, Watcher
from heedful.training.checkpoint import Progress, load_checkpoint, save_checkpoint
from heedful.training.epochs import Epochs
from heedful.training.objectives.objective import Objective
from heedful.training.optimiser import build_optimiser, clip_gradients


class Trainer:
    """Fits a model to `train`, keeps the epoch that is best on another split, and can be interrupted anywhere.

    Everything random in an epoch follows from the seed and the epoch's number, so an epoch that is
    repeated after an interruption is the same epoch.
    """

    def __init__(
        self,
        model: AttentionModel,
        objective: Objective,
        options: TrainingOptions,
        *,
        metric: str,
        checkpoint: Path | None = None,
        watcher: Watcher = QUIET,
        log: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        self.model, self.objective, self.options = model, objective, options
        self.metric = objective.metric or metric
        self.epochs = options.epochs or objective.max_epochs
        rate = min(options.learning_rate, objective.max_learning_rate)
        self.optimiser = build_optimiser(
            options.model_copy(update={"learning_rate": rate}), objective.trainable_parameters()
        )
        self.checkpoint, self.watcher, self.log = (
            checkpoint,
            Epochs(watcher),
            log or (lambda record: None),
        )
        self.progress = Progress()
        self.best: dict[str, Tensor] = {}

    def fit(self, splits: Mapping[str, Instances], *, select_on: str = "dev") -> Progress:
        """Train until the last epoch or until patience runs out; the model ends with its best weights."""
        self.resume()
        while not self.finished():
            epoch = self.progress.epoch
            torch.manual_seed(_mix(self.options.seed, epoch))
            loss = self.train_epoch(splits["train"], epoch)
            self.end_epoch(epoch, loss, self.objective.evaluate(select_on, splits[select_on]))
        self.model.load_state_dict(self.best)
        return self.progress

    def resume(self) -> None:
        """Continue from the checkpoint, if there is one."""
        found = self.checkpoint and load_checkpoint(self.checkpoint, self.model, self.optimiser)
        if found:
            self.progress, self.best = found
            self.log({"event": "resumed", "epoch": self.progress.epoch})
        elif self.checkpoint is not None and self.checkpoint.is_file():
            self.log({"event": "began again", "reason": "the checkpoint is damaged, or of another run"})

    def finished(self) -> bool:
        """Whether all epochs are done, or too many without a better one."""
        done, patience = self.progress.epoch, self.options.patience
        waited = (done - 1 - self.progress.best_epoch) / self.objective.patience_factor
        return done >= self.epochs or (patience is not None and done > 0 and waited >= patience)

    def train_epoch(self, train: Instances, epoch: int) -> float:
        """Make one pass over train; return the mean loss per text."""
        self.model.train()
        if self.model.embedding is not None:
            self.model.embedding.sparse = True  # gradients only of the rows that a batch uses, for RowAdam
        self.objective.begin_epoch(epoch)
        batches = training_batches(
            train.lengths, self.options.batch_size, seed=self.options.seed, epoch=epoch
        )
        total = 0.0
        with self.watcher.epoch(epoch, self.epochs, len(batches)) as step:
            for number, rows in enumerate(batches, start=1):
                loss = self.train_step(train.batch(rows))
                if math.isnan(loss):
                    raise Diverged(
                        f"The loss is not a number in epoch {epoch + 1}: try a smaller --learning-rate."
                    )
                total += loss * len(rows)
                step(number, loss)
        return total / len(train)

    def train_step(self, batch: Batch) -> float:
        """Lower the loss of one batch."""
        self.optimiser.zero_grad(set_to_none=True)
        loss = self.objective.loss(batch)
        loss.backward()  # type: ignore[no-untyped-call]
        self.clip()
        self.optimiser.step()
        return loss.item()

    def clip(self) -> None:
        """Bound the norm of the gradient."""
        if self.options.clip is not None:
            clip_gradients(self.optimiser, self.options.clip)

    def end_epoch(self, epoch: int, loss: float, dev: dict[str, float]) -> None:
        """Record the epoch, keep the best weights, and save everything."""
        train = self.objective.epoch_means()
        means = {"train": train} if train else {}
        self.progress.history.append({"epoch": epoch + 1, "loss": loss, **means, "dev": dev})
        if dev[self.metric] > self.progress.best_score:
            self.progress.best_epoch, self.progress.best_score = epoch, dev[self.metric]
            self.best = {name: tensor.clone() for name, tensor in self.model.state_dict().items()}
        self.log({"event": "epoch", **self.progress.history[-1]})
        self.watcher.end_epoch(
            epoch, loss, self.metric, dev[self.metric], best=self.progress.best_epoch == epoch
        )
        if self.checkpoint is not None:
            save_checkpoint(self.checkpoint, self.progress, self.model, self.best, self.optimiser)


def _mix(seed: int, epoch: int) -> int:
    """Give each epoch of each seed its own random stream."""
    return (seed * 1_000_003 + epoch) % 2**63
