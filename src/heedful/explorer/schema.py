"""What is asked and answered over HTTP about a text; every field says what it is."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from heedful.explorer.other_weights import How
from heedful.explorer.text_reading import LONGEST

Text = Annotated[str, Field(min_length=1, max_length=LONGEST, description="The text, as it is.")]
Weight = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]
Label = Annotated[str, Field(description="The name of a class.")]


class Asked(BaseModel):
    """A text, and what it is read for."""

    model_config = ConfigDict(extra="forbid")

    text: Text
    query: str | None = Field(
        None, max_length=LONGEST, description="Question or hypothesis, for models that read one."
    )


class AskedRead(Asked):
    """A text to be read."""

    source: str = Field(
        "",
        max_length=100,
        description="Whose scores are drawn: attention or an explainer; the usual one if empty.",
    )


class AskedWeights(Asked):
    """Weights that somebody gives."""

    weights: list[Weight] = Field(
        min_length=1, max_length=LONGEST, description="One for every word; they are scaled to sum to one."
    )
    alike: bool = Field(
        False,
        description="Whether all heads have these weights; otherwise each keeps its pattern, and words are scaled.",
    )


class AskedButton(Asked):
    """Weights that a button stands for."""

    how: How = Field(description="Which weights.")
    seed: int = Field(0, ge=0, le=2**31 - 1, description="Which shuffle.")
    explainer: str | None = Field(None, max_length=100, description="Which explainer's scores.")
    twin: str | None = Field(None, max_length=300, description="Which twin; the first if not given.")


class ChangedWord(BaseModel):
    """A word that is deleted or replaced."""

    model_config = ConfigDict(extra="forbid")

    word: int = Field(ge=0, le=LONGEST, description="Its number, from 0.")
    to: str = Field("", max_length=200, description="What stands in its place; deleted if empty.")


class AskedWords(Asked):
    """Words that are deleted or replaced."""

    changes: list[ChangedWord] = Field(min_length=1, max_length=LONGEST)


class Answer(BaseModel):
    """What a model says."""

    probabilities: list[float] = Field(description="One for each class.")
    predicted: Label


class Heat(Answer):
    """A text as a model reads it."""

    text: str
    query: str | None
    parts: list[str] = Field(description="The text cut at its words: gap, word, gap, word, …, gap.")
    weights: list[float] = Field(description="A weight or score for every word.")
    source: str = Field(description="Whose scores they are.")
    source_title: str
    labels: list[str]
    heads: int = Field(description="How many heads share the attention; 0 where there is none.")
    linear: bool = Field(description="Whether the answer is a weighted mean of what single items say.")
    movable: bool = Field(description="Whether weights can be replaced.")
    unit: Literal["word", "sentence"]


class MovedAnswer(Answer):
    """What the model says under other weights; its states are as they were."""

    weights: list[float] = Field(description="Of every word, averaged over the heads.")
    far: float = Field(description="Jensen–Shannon divergence from the model's own weights, at most 0.69.")
    change: float = Field(description="How far the prediction moved: total variation distance.")
    same: bool = Field(description="Whether the decision is the same.")
    says: str = Field("", description="What these weights are.")


class WordsAnswer(BaseModel):
    """The two effects of changing words."""

    real: Heat = Field(description="The changed text, read again.")
    attention: MovedAnswer | None = Field(
        description="The weights of the changed words at zero, states as they were; null without attention."
    )
    says: str = Field(description="The difference in a sentence.")


class ModelLine(BaseModel):
    """A model that can be explored."""

    id: str = Field(description="Its name in addresses.")
    name: str
    loaded: bool


class ExplainerLine(BaseModel):
    """A way to score words."""

    name: str
    title: str
    description: str


class ModelAbout(BaseModel):
    """What can be asked of a model."""

    id: str
    name: str
    encoder: str
    labels: list[str]
    access: Literal["predictions", "embeddings", "stages"]
    unit: Literal["word", "sentence"]
    queries: bool | None = Field(description="Whether it reads every text for a query; null where it may.")
    sources: list[ExplainerLine] = Field(description="What can score its words; the usual one first.")
    twins: list[str]
    cannot: list[str] = Field(description="What cannot be done with it, and why.")
    attacks: list[ExplainerLine]
    data: str | None = Field(description="Where texts to pick come from; null where none are at hand.")


class TextLine(BaseModel):
    """A text to pick."""

    row: int
    text: str
    query: str | None
    label: str | None


class TextPage(BaseModel):
    """Texts to pick from."""

    data: str
    count: int = Field(description="How many fit the search.")
    of: int
    texts: list[TextLine]
