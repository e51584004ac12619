"""Pretrained transformers as encoders: any BERT-like model by path, asset or hub name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from heedful.config import ModelOptions
from heedful.data.fetch.network_config import check_config_of, check_counts
from heedful.data.fetch.offline import quick_to_give_up
from heedful.errors import BadInput
from heedful.models.encoders.encoder import ENCODERS, Encoder


@ENCODERS.register("hf:NAME-OR-PATH", "any BERT-like pretrained transformer, e.g. hf:minilm-l6")
class TransformerEncoder(Encoder):
    """The states of a transformer's last layer, one per word piece."""

    slow: ClassVar[bool] = True
    brings_embedding: ClassVar[bool] = True

    def __init__(self, options: ModelOptions, transformer: nn.Module) -> None:
        super().__init__(options, 0)
        self.transformer: Any = transformer
        self.size = int(transformer.config.hidden_size)  # type: ignore[union-attr, arg-type]

    @classmethod
    def build(cls, options: ModelOptions, pretrained: nn.Module | Mapping[str, Any] | None) -> Self:
        """Take a pretrained transformer, or make an untrained one of a given shape."""
        module = pretrained if isinstance(pretrained, nn.Module) else build_transformer(pretrained or {})
        return cls(options, module)

    @property
    def embedding(self) -> nn.Module:
        """The word-piece embeddings, before positions are added."""
        module: nn.Module = self.transformer.get_input_embeddings()
        return module

    def forward(
        self, embedded: Float[Tensor, "batch tokens dim"], present: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch tokens size"]:
        """Run all layers on given embeddings."""
        output = self.transformer(inputs_embeds=embedded, attention_mask=present.long())
        h: Tensor = output.last_hidden_state
        return h

    def summarise(
        self, h: Float[Tensor, "batch tokens size"], present: Bool[Tensor, "batch tokens"]
    ) -> Float[Tensor, "batch size"]:
        """Give the state of [CLS], the first token."""
        return h[:, 0]


def load_transformer(name: str) -> nn.Module:
    """Load pretrained weights from a folder or the hub. Code that a model brings along is never run."""
    from transformers import AutoModel
    from transformers.utils import logging

    logging.disable_progress_bar()  # heedful shows its own
    logging.set_verbosity_error()
    try:
        with quick_to_give_up():
            check_config_of(name)
            model: nn.Module = AutoModel.from_pretrained(name, trust_remote_code=False, dtype=torch.float32)
    except (OSError, ValueError, KeyError) as error:
        raise BadInput(
            f"Cannot load the pretrained model {name!r}: give a folder with config.json and model.safetensors, "
            f"or a hub name where the hub can be reached."
        ) from error
    return _without_pooler(model)


def build_transformer(config: Mapping[str, Any]) -> nn.Module:
    """Build an untrained transformer of a saved model's shape."""
    from transformers import AutoConfig, AutoModel

    check_counts(config, "the run")
    values = {key: value for key, value in config.items() if key != "model_type"}
    model: nn.Module = AutoModel.from_config(AutoConfig.for_model(config["model_type"], **values))
    return _without_pooler(model)


def transformer_config(model: nn.Module) -> dict[str, Any]:
    """Give the shape of a transformer as plain JSON values."""
    config: dict[str, Any] = json.loads(model.config.to_json_string(use_diff=False))  # type: ignore[union-attr, operator]
    return config


def _without_pooler(model: nn.Module) -> nn.Module:
    """Drop the layer over [CLS] that some models bring and no stage uses."""
    if getattr(model, "pooler", None) is not None:
        model.pooler = None  # type: ignore[assignment]
    return model
