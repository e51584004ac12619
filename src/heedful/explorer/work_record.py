"""What is known of a piece of work in the background: asked for, how far it is, and what came of it. It is kept on the disk."""

from __future__ import annotations

import re
import secrets
import time
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from heedful.intake.json_text import read_json
from heedful.storage import write_json

WorkState = Literal["waiting", "running", "done", "failed", "stopped"]
OVER: tuple[WorkState, ...] = ("done", "failed", "stopped")
FILE, RESULT = "work.json", "result.json"
_NAME = re.compile(r"[0-9]{14}-[0-9a-f]{8}")


class AttackWork(BaseModel):
    """Attack one text, and tell every step."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["attack"]
    model: str = Field(max_length=500, description="The model's name in addresses.")
    text: str = Field(min_length=1, max_length=20_000)
    recipe: str = Field("pwws", max_length=100, description="A published attack (heedful list attacks).")
    known_words: bool = Field(False, description="Use only substitutes that the model's vocabulary knows.")
    similarity: bool = Field(True, description="Ask for similar sentences, where the attack does.")
    vectors: str | None = Field(
        None, max_length=1000, description="Counter-fitted vectors, for attacks that need them."
    )
    synonyms: str | None = Field(None, max_length=1000, description="A file of substitutes.")
    language_model: str | None = Field(
        None, max_length=1000, description="The folder of a language model, for attacks that need one."
    )
    sememes: str | None = Field(None, max_length=1000, description="HowNet, for attacks that need it.")
    same_part_of_speech: bool | None = Field(
        None,
        description="Whether a substitute must be of the same part of speech; as published if not given.",
    )


class AuditWork(BaseModel):
    """Audit a model, as heedful audit does; what is finished is kept, and an interrupted audit goes on."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["audit"]
    model: str = Field(max_length=500, description="The model's name in addresses.")
    quick: bool = Field(True, description="Audit a sample of 500 texts, and stop in time.")
    limit: int | None = Field(None, ge=1, le=10**9, description="Audit a random sample of this many texts.")
    only: list[Annotated[str, Field(max_length=100)]] | None = Field(
        None, min_length=1, max_length=50, description="Run only these audits; then there is no verdict."
    )


Asked = AttackWork | AuditWork


class WorkProgress(BaseModel):
    """How far it is."""

    doing: str = ""
    done: int = 0
    total: int = 0
    unit: str = ""
    said: list[str] = Field(default_factory=list, description="Sentences that were said on the way.")


class WorkRecord(BaseModel):
    """A piece of work."""

    id: str
    asked: Annotated[Asked, Field(discriminator="kind")]
    state: WorkState = "waiting"
    progress: WorkProgress = Field(default_factory=WorkProgress)
    error: str = Field("", description="Why it failed, in a sentence.")
    begun: float = Field(description="When it was asked for, in seconds since 1970.")
    seconds: float = Field(0.0, description="How long it took so far.")

    @property
    def over(self) -> bool:
        """Whether nothing more will happen."""
        return self.state in OVER


def new_record(asked: AttackWork | AuditWork) -> WorkRecord:
    """Begin a record; its name sorts by time."""
    name = f"{time.strftime('%Y%m%d%H%M%S', time.gmtime())}-{secrets.token_hex(4)}"
    return WorkRecord(id=name, asked=asked, begun=time.time())


def keep(record: WorkRecord, folder: Path) -> None:
    """Write a record to its folder."""
    write_json(folder / record.id / FILE, record.model_dump(mode="json"))


def read_records(folder: Path) -> list[WorkRecord]:
    """Read all records of a folder, the oldest first; a damaged one is left out."""
    names = [path.parent.name for path in sorted(folder.glob(f"*/{FILE}"))]
    return [record for name in names if (record := read_record(folder, name)) is not None]


def read_record(folder: Path, name: str) -> WorkRecord | None:
    """Read a record by its name; None where there is none, or a damaged one."""
    try:
        record = WorkRecord(**read_json(folder / name / FILE))
    except (OSError, ValueError, TypeError, ValidationError):
        return None
    return record if record.id == name and _NAME.fullmatch(name) else None


def read_result(record: WorkRecord, folder: Path) -> dict[str, Any] | None:
    """Read what came of it; None where nothing did."""
    path = folder / record.id / RESULT
    try:
        found = read_json(path)
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None
