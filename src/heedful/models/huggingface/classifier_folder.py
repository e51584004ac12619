"""Sequence classifiers of transformers, found by folder, hub name or asset, or given from memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import nn

from heedful.data.corpora.labels import check_names, spell
from heedful.data.fetch.network_config import check_config_of
from heedful.data.fetch.offline import quick_to_give_up
from heedful.errors import BadInput
from heedful.intake.arguments import as_list
from heedful.intake.finite import not_finite
from heedful.models.huggingface.adapter import Adapter, is_adapter_folder, read_adapter
from heedful.models.huggingface.network import Network, in_single_precision
from heedful.models.huggingface.place import Unfit
from heedful.models.huggingface.self_check import make_ready
from heedful.models.huggingface.sequence_classifier import SequenceClassifier
from heedful.models.huggingface.subwords import padding_of, read_vocabulary, special_types, tells_types

CONFIG = "config.json"
HEAD = "ForSequenceClassification"
"""How transformers ends the names of networks that give a text one label."""


def is_classifier_folder(folder: Path) -> bool:
    """Whether a folder holds a model of transformers or an adapter of one, and not a run of heedful's."""
    there = (folder / CONFIG).is_file() or is_adapter_folder(folder)
    return there and not (folder / "model.json").is_file()


def open_classifier(
    name: str | Path,
    *,
    tokenizer: Any = None,
    adapter: str | Path | None = None,
    label_names: Sequence[str] | None = None,
    home: Path | None = None,
) -> SequenceClassifier:
    """Load a sequence classifier and its tokenizer. Code that a model brings along is never run."""
    from transformers.utils import logging

    logging.disable_progress_bar()  # heedful shows its own
    logging.set_verbosity_error()
    where = str(Path(name).expanduser()) if Path(name).expanduser().is_dir() else str(name)
    added = None if adapter is None else read_adapter(Path(adapter).expanduser())
    if added is None and is_adapter_folder(Path(where)):
        added = read_adapter(Path(where))
        where = _base_of(added)
        if tokenizer is None and (added.folder / "tokenizer.json").is_file():
            tokenizer = added.folder
    config = _read_config(where)
    _check_config(config, where, headed=added is not None)
    module, missing = _read_module(where, config, adapted=added is not None)
    if added is not None:
        several = added.classes(module, config.num_labels)
        if several != config.num_labels:
            config.num_labels = several  # which names the classes anew
            module, missing = _read_module(where, config, adapted=True)
        _check_config(config, where, headed=True)
        module = added.put(module, missing)
    elif missing:
        raise BadInput(
            f"{where} is a network without a trained head ({missing[0]} is not in its weights): give a classifier that was "
            f"fine-tuned, or train a model on it (heedful train --encoder hf:{where})."
        )
    read = _load_tokenizer(where if tokenizer is None else tokenizer)
    module.requires_grad_(False)
    if torch.cuda.is_available():
        module.to("cuda")
    called = Path(where).name if Path(where).is_dir() else where
    if added is not None:
        called = f"{Path(called).name} with adapter {added.folder.resolve().name}"
    return classify_with(module, read, name=called, label_names=label_names, home=home)


def _read_config(where: str) -> Any:
    from transformers import AutoConfig

    try:
        with quick_to_give_up():
            check_config_of(where)
            return AutoConfig.from_pretrained(where, trust_remote_code=False)
    except (MemoryError, BadInput):
        raise
    except Exception as error:  # the libraries beneath believe a config, and raise whatever comes of that
        raise BadInput(_no_model(where, error)) from error


def _read_module(where: str, config: Any, *, adapted: bool) -> tuple[nn.Module, list[str]]:
    """Load a network, and say which of its weights were not found; with an adapter, a head of another size is not its own."""
    from transformers import AutoModelForSequenceClassification

    try:
        with quick_to_give_up():
            module, told = AutoModelForSequenceClassification.from_pretrained(
                where,
                config=config,
                trust_remote_code=False,
                dtype=torch.float32,
                output_loading_info=True,
                ignore_mismatched_sizes=adapted,
            )
    except MemoryError:
        raise
    except Exception as error:
        raise BadInput(_no_model(where, error)) from error
    if (wrong := not_finite(module.named_parameters())) is not None:
        raise BadInput(
            f"The weights of {where} are no numbers ({wrong} has NaN or infinity): copy the model again, or choose another."
        )
    if not adapted and (unread := sorted(told.get("unexpected_keys", ()))):
        _check_class(config, module, where, unread[0])
    other = [found[0] for found in told.get("mismatched_keys", ())]
    return module, sorted([*told.get("missing_keys", ()), *other])


def _check_class(config: Any, module: nn.Module, where: str, unread: str) -> None:
    """Refuse weights of another network than the one that reads them: its numbers would be those of neither."""
    known = type(module).__name__
    saved = (getattr(config, "architectures", None) or [known])[0]
    if saved != known or f"AutoModel{HEAD}" in (getattr(config, "auto_map", None) or {}):
        raise BadInput(
            f"{where} was saved by code of its own ({saved}), and {known} of transformers has no place for some of its weights ({unread}): load "
            f"it with that code, and heedful.wrap(…) it."
        )


def _base_of(added: Adapter) -> str:
    """Say on which model an adapter was trained, if that model can be found from here."""
    told = f"{added.folder} is an adapter: name the model that it was trained on, and give the folder as --adapter"
    if added.base is None:
        raise BadInput(f"{told}.")
    for found in (Path(added.base).expanduser(), added.folder.parent / Path(added.base).name):
        if (found / CONFIG).is_file():
            return str(found)
    if Path(added.base).is_absolute():
        raise BadInput(f"{told} ({added.base} is not there).")
    return added.base


def classify_given(
    model: Any,
    tokenizer: Any = None,
    *,
    adapter: str | Path | None = None,
    label_names: Sequence[str] | None = None,
) -> SequenceClassifier:
    """Make a classifier of a pipeline, or of a network and its tokenizer."""
    module = model
    if not isinstance(model, nn.Module):  # a pipeline
        _check_pipeline(model)
        module, tokenizer = model.model, model.tokenizer if tokenizer is None else tokenizer
    if tokenizer is None:
        raise BadInput(
            "A model of transformers is given without its tokenizer: give it too (tokenizer=…), or a pipeline."
        )
    if adapter is not None:
        raise BadInput(
            "An adapter is put into a model that is loaded: name its folder, or give the model with the adapter in it."
        )
    if not hasattr(module, "num_labels") or not type(module).__name__.endswith(HEAD):
        raise BadInput(
            f"A {type(module).__name__} has no head that gives a text a label: give a sequence classifier, or heedful.wrap(…) your own."
        )
    return classify_with(module, _load_tokenizer(tokenizer), label_names=label_names)


def _check_pipeline(pipeline: Any) -> None:
    """Refuse a pipeline that does something else with logits than to say which label a text has."""
    made = getattr(pipeline, "_postprocess_params", {}).get("function_to_apply")
    told = str(getattr(made, "value", made))
    if pipeline.task != "text-classification" or told not in ("None", "softmax"):
        does = (
            f"is for {pipeline.task}"
            if pipeline.task != "text-classification"
            else f"applies {told} to its logits"
        )
        raise BadInput(
            f"This pipeline {does}, and what is audited is one label for each text, by softmax: give a pipeline for text-classification, its "
            f"model and tokenizer, or a function from texts to probabilities."
        )


def classify_with(
    module: nn.Module,
    tokenizer: Any,
    *,
    name: str | None = None,
    label_names: Sequence[str] | None = None,
    home: Path | None = None,
) -> SequenceClassifier:
    """Make a classifier of a network of transformers and its tokenizer; both stay as they are."""
    config: Any = module.config
    _check_config(config, name or "The model", headed=True)
    module = in_single_precision(module)
    try:
        table: Any = module.get_input_embeddings()  # type: ignore[operator]
    except NotImplementedError:
        table = None
    weight: Any = getattr(table, "weight", None)
    if not isinstance(table, nn.Module) or weight is None:
        raise Unfit("it has no table of word vectors")
    pad = _pad(config, tokenizer)
    vocabulary = read_vocabulary(tokenizer, module, rows=int(weight.shape[0]))
    parts = [getattr(part, "config", None) for part in module.modules()]
    configs = tuple({id(c): c for c in parts if hasattr(c, "_attn_implementation")}.values())
    side = "left" if getattr(tokenizer, "padding_side", "right") == "left" else "right"
    types = special_types(tokenizer, vocabulary)
    network = Network(module, table, pad, side, types, tells_types(tokenizer), configs)  # type: ignore[arg-type]
    labels = _labels(config, label_names)
    called = name or str(getattr(config, "_name_or_path", "") or "a model in memory")
    return SequenceClassifier(make_ready(network, vocabulary), vocabulary, labels, Path(called).name, home)


def _check_config(config: Any, where: str, *, headed: bool = False) -> None:
    """Refuse what has no head of the kind that is audited."""
    if getattr(config, "is_encoder_decoder", False):
        raise Unfit("it is an encoder–decoder, whose head reads another text than its attention weighs")
    named = getattr(config, "architectures", None)
    kinds = named if isinstance(named, list) else []
    if kinds and not headed and not any(str(kind).endswith(HEAD) for kind in kinds):
        raise BadInput(
            f"{where} is a {kinds[0]}, which has no head that gives a text a label: give a sequence classifier, or train a model on it "
            f"(heedful train --encoder hf:{where})."
        )
    problem = getattr(config, "problem_type", None)
    if problem == "multi_label_classification":
        raise Unfit("it gives a text several labels (problem_type is multi_label_classification)")
    if config.num_labels == 1:
        raise Unfit("it gives a number and no label (a regression, with one output)")
    if problem == "regression":
        raise Unfit("it gives a number and no label (problem_type is regression)")


def _no_model(where: str, error: Exception) -> str:
    told = " ".join(str(error).split())
    if "trust_remote_code" in told or "custom code" in told:
        return f"{where} brings code of its own, and heedful runs no such code: give a model of a kind that transformers knows."
    if Path(where).is_dir() and not (Path(where) / CONFIG).is_file():
        return (
            f"There is no model in {where} ({CONFIG} is missing): give the folder of a sequence classifier."
        )
    return (
        f"Cannot load the classifier {where!r} ({told.split('. ')[0][:160].rstrip('. ')}): give a folder with {CONFIG} and model.safetensors, or a "
        f"hub name where the hub can be reached."
    )


def _load_tokenizer(given: Any) -> Any:
    """Take a tokenizer as it is, or load it by folder or name."""
    if not isinstance(given, str | Path):
        return given
    from transformers import AutoTokenizer

    try:
        with quick_to_give_up():
            found = AutoTokenizer.from_pretrained(str(given), trust_remote_code=False)
        if len(found) <= len(found.all_special_ids):
            raise ValueError("it knows no words")  # what some versions make of an empty folder
    except Exception as error:  # the libraries beneath raise bare Exception for damaged files
        raise BadInput(
            f"There is no tokenizer for {given}: put its tokenizer.json beside the model, or give another (tokenizer=…)."
        ) from error
    return found


def _pad(config: Any, tokenizer: Any) -> int:
    """Find the token that short texts are filled up with; for networks that look for it, it is set in memory."""
    pad = getattr(config, "pad_token_id", None)
    if pad is None or pad < 0:
        config.pad_token_id = pad = padding_of(tokenizer)
    return int(pad)


def _labels(config: Any, given: Sequence[str] | None) -> tuple[str, ...]:
    """Name the classes in their order."""
    if given is None:
        named = {int(number): str(label) for number, label in (config.id2label or {}).items()}
        return check_names(
            [named.get(number, f"LABEL_{number}") for number in range(config.num_labels)],
            where=f"id2label of {CONFIG}",
        )
    names = check_names(
        [spell(label) or "" for label in as_list(given, "names of labels")], where="label_names"
    )
    if len(names) != config.num_labels:
        raise BadInput(
            f"The model has {config.num_labels} classes and {len(names)} are named ({', '.join(names[:10])}): name one for each, in "
            f"their order."
        )
    return names
