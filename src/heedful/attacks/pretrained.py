"""Pretrained models that attacks ask: loaded in silence, or refused in one sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from heedful.data.fetch.network_config import check_config_of
from heedful.data.fetch.offline import quick_to_give_up
from heedful.errors import BadInput

_FAILURES = (OSError, ValueError, ImportError, KeyError, RuntimeError)
"""What loading raises for folders that hold no model, half of one, or another kind."""


def load_pretrained(kind: str, name: str, *, what: str, hint: str) -> tuple[Any, Any, bool]:
    """Take a tokenizer and a model, in single precision, by a folder or a name on the hub; also say if weights are missing.

    `kind` is one of transformers' Auto classes, `what` and `hint` say what is loaded and what to give instead.
    """
    import transformers

    name = _found(name, what=what, hint=hint)
    try:
        with _silence(), quick_to_give_up():
            check_config_of(name)
            tokenizer = transformers.AutoTokenizer.from_pretrained(name)
            model, report = getattr(transformers, kind).from_pretrained(
                name, dtype=torch.float32, output_loading_info=True
            )
    except _FAILURES as error:
        raise BadInput(f"Cannot load {what} from {name} ({_reason(error)}): {hint}.") from None
    return tokenizer, model.eval(), bool(report["missing_keys"])


def is_masked(name: str, *, what: str, hint: str) -> bool:
    """Whether a language model fills gaps, and not only goes on: by its settings, or by its token for gaps."""
    from transformers import AutoConfig, AutoTokenizer

    name = _found(name, what=what, hint=hint)
    try:
        with _silence(), quick_to_give_up():
            check_config_of(name)
            made_for = " ".join(AutoConfig.from_pretrained(name).architectures or ())
            if "MaskedLM" in made_for or "CausalLM" in made_for or "LMHead" in made_for:
                return "MaskedLM" in made_for
            return AutoTokenizer.from_pretrained(name).mask_token is not None
    except _FAILURES as error:
        raise BadInput(f"Cannot load {what} from {name} ({_reason(error)}): {hint}.") from None


def _found(name: str, *, what: str, hint: str) -> str:
    """Give a folder's path or a name on the hub; a folder of something else is named for what it lacks."""
    folder = Path(name).expanduser()
    if not folder.is_dir():
        return name
    if not (folder / "config.json").is_file():
        raise BadInput(
            f"Cannot load {what} from {name} (it has no config.json, and so is no model of transformers): {hint}."
        )
    return str(folder)


def _reason(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "") or type(error).__name__


@contextmanager
def _silence() -> Iterator[None]:
    from transformers.utils import logging

    shown, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if shown:
            logging.enable_progress_bar()
