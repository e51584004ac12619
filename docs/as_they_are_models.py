"""The classifiers that docs/as-they-are.md audits: made as anybody would make them, without heedful.

    HEEDFUL_DATA=… python docs/as_they_are_models.py FOLDER

FOLDER then holds `minilm-sst2` (MiniLM fine-tuned on sst2, an ordinary folder), `lora-mr` (an adapter of it, trained on mr) and
`mean-pooled` (MiniLM without its own head, the mean of its states, and a head of two layers). What is there already is not made
again. `reviews` is a pipeline of scikit-learn on mr, learnt when it is first asked.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import heedful
from heedful.data.corpora.reader import load_corpus
from heedful.data.corpus import Split
from heedful.data.fetch import assets
from heedful.training.train import resolve

SENTENCES, FEWER, BATCH, SEED = 4000, 1600, 16, 0
LABELS = {0: "negative", 1: "positive"}


class MeanPooled(nn.Module):
    """The mean of a transformer's states, and a head of two linear layers."""

    def __init__(self, network: nn.Module, size: int = 384, classes: int = 2) -> None:
        super().__init__()
        self.network = network
        self.head = nn.Sequential(nn.Linear(size, 64), nn.ReLU(), nn.Linear(64, classes))

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        """Give logits."""
        states = self.network(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        real = attention_mask[..., None].to(states.dtype)
        return self.head((states * real).sum(1) / real.sum(1).clamp(min=1))


def main(folder: Path) -> None:
    """Make what is not there yet."""
    torch.set_num_threads(1)
    folder.mkdir(parents=True, exist_ok=True)
    for name, make in (("minilm-sst2", minilm), ("lora-mr", lora), ("mean-pooled", mean_pooled)):
        if (folder / name).is_dir():
            continue
        half = folder / f"{name}.unfinished"
        shutil.rmtree(half, ignore_errors=True)
        half.mkdir()
        torch.manual_seed(SEED)
        make(folder, half)
        half.rename(folder / name)


def split_of(dataset: str, split: str) -> Split:
    """Give a split of a corpus."""
    return load_corpus(resolve({"dataset": dataset})).splits[split]


def unseen(dataset: str, *, by: str) -> list[tuple[str, int]]:
    """Texts and labels of a test split that do not stand in another corpus' training split."""
    seen = {" ".join(text.lower().split()) for text in split_of(by, "train").texts}
    test = split_of(dataset, "test")
    both = zip(test.texts, test.labels, strict=True)
    return [(text, int(label)) for text, label in both if " ".join(text.lower().split()) not in seen]


def minilm(folder: Path, half: Path) -> None:
    """Fine-tune MiniLM with a head that transformers gives it."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    base = _base()
    module = AutoModelForSequenceClassification.from_pretrained(
        base, num_labels=2, id2label=LABELS, label2id={name: number for number, name in LABELS.items()}
    )
    tokenizer = AutoTokenizer.from_pretrained(base)
    fit(module, lambda **given: module(**given).logits, tokenizer, "sst2", SENTENCES, 5e-5)
    module.save_pretrained(half)
    tokenizer.save_pretrained(half)


def lora(folder: Path, half: Path) -> None:
    """Train an adapter of rank 8 on top of it."""
    from peft import LoraConfig, TaskType, get_peft_model
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    base = folder / "minilm-sst2"
    config = LoraConfig(task_type=TaskType.SEQ_CLS, r=8, lora_alpha=16, target_modules=["query", "value"])
    module: Any = get_peft_model(AutoModelForSequenceClassification.from_pretrained(base), config)
    fit(module, lambda **given: module(**given).logits, AutoTokenizer.from_pretrained(base), "mr", 1500, 1e-3)
    module.save_pretrained(half)


def mean_pooled(folder: Path, half: Path) -> None:
    """Fine-tune the mean-pooled network."""
    from safetensors.torch import save_file

    module, tokenizer = _mean_pooled()
    fit(module, module, tokenizer, "sst2", FEWER, 1e-4)
    save_file({name: weight.contiguous() for name, weight in module.state_dict().items()}, half / "model.safetensors")  # fmt: skip


def load_mean_pooled(folder: Path) -> Any:
    """Give the mean-pooled network as a classifier."""
    from safetensors.torch import load_file

    module, tokenizer = _mean_pooled()
    module.load_state_dict(load_file(folder / "mean-pooled" / "model.safetensors"))
    return heedful.wrap(module.eval(), tokenizer, labels=list(LABELS.values()), name="mean-pooled")


def fit(
    module: nn.Module, logits: Callable[..., Tensor], tokenizer: Any, dataset: str, many: int, rate: float
) -> None:
    """One pass over some of a training split, the rate falling to nothing; accuracy on 600 test sentences is said."""
    train, test = split_of(dataset, "train"), split_of(dataset, "test")
    rows = torch.randperm(len(train.texts), generator=torch.Generator().manual_seed(SEED))[:many].tolist()
    weights = [weight for weight in module.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(weights, lr=rate)
    steps = len(rows) // BATCH
    falling = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: 1 - step / steps)

    def read(texts: Sequence[str]) -> Tensor:
        return logits(**tokenizer(list(texts), padding=True, truncation=True, max_length=64, return_tensors="pt",
                                  return_token_type_ids=False))  # fmt: skip

    module.train()
    for step in range(steps):
        part = rows[step * BATCH : (step + 1) * BATCH]
        loss = F.cross_entropy(read([train.texts[row] for row in part]), torch.tensor([int(train.labels[row]) for row in part]))  # fmt: skip
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        falling.step()
        if step % 25 == 0:
            print(f"{dataset}: step {step} of {steps}, loss {loss:.3f}", flush=True)
    module.eval()
    with torch.no_grad():
        said = torch.cat([read(test.texts[i : i + BATCH]).argmax(-1) for i in range(0, 600, BATCH)])
    right = (said == torch.tensor([int(label) for label in test.labels[: len(said)]])).float().mean()
    print(f"{dataset}: accuracy {right:.3f} on {len(said)} test sentences", flush=True)


@cache
def _pipeline() -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    train = split_of("mr", "train")
    steps = TfidfVectorizer(ngram_range=(1, 2), min_df=2), LogisticRegression(C=10, max_iter=1000)
    return make_pipeline(*steps).fit(train.texts, train.labels)


def reviews(texts: Sequence[str]) -> Any:
    """Give probabilities of negative and positive, by words and pairs of words."""
    return _pipeline().predict_proba(texts)


def _base() -> Path:
    folder = assets.find("minilm-l6")
    if folder is None:
        raise SystemExit("MiniLM is needed: run heedful data get minilm-l6.")
    return folder


def _mean_pooled() -> tuple[MeanPooled, Any]:
    from transformers import AutoModel, AutoTokenizer

    base = _base()
    return MeanPooled(AutoModel.from_pretrained(base, add_pooling_layer=False)), AutoTokenizer.from_pretrained(base)  # fmt: skip


if __name__ == "__main__":
    main(Path(sys.argv[1]))
