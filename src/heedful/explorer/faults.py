"""What goes wrong, as an answer: JSON with one sentence, and never the traceback of anything."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from heedful.errors import BadInput, HeedfulError
from heedful.intake.encodings import without_surrogates

_PLAIN = {
    404: "There is nothing at this address: begin at the start page.",
    405: "This address is not asked in that way: /openapi.json says how.",
}


class Fault(BaseModel):
    """What went wrong, in one sentence."""

    error: str = Field(description="What was wrong, where, and what to do.")


class NotHere(BadInput):
    """What was asked for by name does not exist."""


FAULTS: dict[int | str, dict[str, Any]] = {
    status: {"model": Fault, "description": words}
    for status, words in (
        (400, "The request is no JSON."),
        (403, "The token is missing, or the request comes from elsewhere."),
        (404, "There is no such thing."),
        (405, "This address is not asked in that way."),
        (409, "It cannot be done now."),
        (413, "The request is too long."),
        (422, "The request cannot be used."),
    )
}


def answer(status: int, sentence: str) -> JSONResponse:
    """Give a fault as JSON."""
    return JSONResponse({"error": without_surrogates(sentence)}, status_code=status)


def tell_faults(app: FastAPI) -> None:
    """Turn everything that is raised into one sentence."""

    @app.exception_handler(HeedfulError)
    def refused(request: Request, error: HeedfulError) -> JSONResponse:
        status = 404 if isinstance(error, NotHere) else 422 if isinstance(error, BadInput) else 409
        return answer(status, str(error))

    @app.exception_handler(RequestValidationError)
    def unfit(request: Request, error: RequestValidationError) -> JSONResponse:
        return answer(422, _first(error))

    @app.exception_handler(HTTPException)
    def plain(request: Request, error: HTTPException) -> JSONResponse:
        return answer(error.status_code, _PLAIN.get(error.status_code, str(error.detail)))

    @app.exception_handler(Exception)
    def broken(request: Request, error: Exception) -> JSONResponse:
        """Say that an error is ours; its traceback goes to whoever started the explorer, and to nobody else."""
        return answer(
            500, f"This is an error in heedful ({type(error).__name__}), not yours: please report it."
        )


def _first(error: RequestValidationError) -> str:
    """Say what is wrong with the first field that is."""
    first = error.errors()[0]
    if first["type"] == "json_invalid":
        return "The request is no JSON: /openapi.json says what is asked for."
    where = ".".join(str(part) for part in first["loc"] if part not in ("body", "query", "path"))
    message = str(first["msg"]).removeprefix("Value error, ")
    return f"{where or 'The request'}: {message[:1].lower()}{message[1:]}."
