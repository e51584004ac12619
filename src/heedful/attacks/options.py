"""What a user may choose of an attack: the same fields from Python and from flags."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from heedful.config import Count, Options, Seed
from heedful.content import by_content


class AttackOptions(Options):
    """How texts are attacked. What is None is as the attack was published; attacks may declare more in their files."""

    declared_in: ClassVar[tuple[str, str]] = ("heedful.attacks.published", "heedful.attacks")

    recipe: str = Field("textfooler", description="A published attack (heedful list attacks).")
    limit: Count | None = Field(None, description="Attack the first texts alone, this many.")
    known_words: bool = Field(False, description="Use only substitutes that the model's vocabulary knows.")
    similarity: bool = Field(
        True,
        description="Ask for similar sentences, where the attack does; without, it is faster and coarser.",
    )
    vectors: str | None = Field(
        None,
        description="Counter-fitted vectors, or a JSON file with the neighbours of each word, for attacks that need them.",
    )
    synonyms: str | None = Field(
        None, description="Take substitutes from this file: a word and its synonyms on each line, or JSON."
    )
    neighbours: Count | None = Field(None, description="Neighbours of a word that may replace it.")
    min_cosine: float | None = Field(
        None, ge=-1, le=1, description="Least cosine of a word and its substitute."
    )
    min_similarity: float | None = Field(
        None,
        ge=0,
        le=1,
        description="Least angular similarity of a sentence before and after a substitution.",
    )
    max_changed: float | None = Field(
        None, gt=0, le=1, description="Largest share of a text's words that may be replaced."
    )
    same_part_of_speech: bool | None = Field(
        None, description="Whether a substitute must be of the same part of speech."
    )
    sentence_encoder: str = Field(
        "minilm-l6", description="What sentences are compared by: an asset's name, or a model's folder."
    )
    language_model: str | None = Field(
        None,
        description="A language model, for attacks that need one: a folder, or a name on the hub. It is masked (bae, clare), "
        "or masked or causal (genetic, genetic_faster).",
    )
    fluency: bool = Field(
        True,
        description="Ask the language model which substitutes are fluent, where the attack does; without, none is needed.",
    )
    sememes: str | None = Field(
        None,
        description="HowNet, for attacks that need it: word, part of speech and sememes on each line, or JSON.",
    )
    seed: Seed = Field(0, description="Seed of attacks that draw random numbers.")

    def deciding(self) -> dict[str, Any]:
        """Give what decides how a text is attacked where it is not as published; files and models count by what they hold."""
        values = self.model_dump(mode="json", exclude_defaults=True, exclude={"recipe", "limit"})
        values = by_content(values, values, folders=False)
        return by_content(values, ("language_model", "sentence_encoder"))
