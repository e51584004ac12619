"""Who may ask: whoever has the token, from this machine, from a page of this server.

A browser lets any site send requests to this machine, and any name on the web may point at it. So every request must name
this server as its host, and one that says where it comes from must come from here. A page is opened by the token in its
address; the browser then keeps it in a cookie that no other site and no script can use.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import MutableMapping, Sequence
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Receive, Scope, Send

from heedful.explorer.faults import answer

TOKEN = "token"
MOST_BYTES = 1 << 20
"""Of a request: texts are the longest thing that is sent."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
_NO_TOKEN = "This address needs the token: open the address that heedful explore printed. It is new each time the explorer starts."
_ELSEWHERE = "This request comes from another site, or calls this server by another name, and is refused."


def new_token() -> str:
    """Draw a token that nobody can guess."""
    return secrets.token_urlsafe(24)


class Guard:
    """Let nothing through that does not come from this server's own pages, or from a program that has the token."""

    def __init__(self, app: ASGIApp, *, token: str, hosts: Sequence[str], port: int) -> None:
        self._app, self._token = app, token
        self._hosts = {f"{_bracketed(host)}:{port}" for host in hosts}
        if port == 80:
            self._hosts |= {_bracketed(host) for host in hosts}
        self._origins = {f"http://{host}" for host in self._hosts}
        self._cookie = f"heedful-{port}"  # cookies know no ports: another explorer has a cookie of its own

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, and answer with the headers that every page has."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # nothing here speaks anything else
        headers = Headers(scope=scope)
        given = _in_address(scope)
        refused = self._refusal(scope, headers, given)
        keep = refused is None and given is not None

        async def with_headers(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                mine = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    mine.setdefault(name, value)
                if keep:
                    mine.append(
                        "set-cookie", f"{self._cookie}={self._token}; Path=/; HttpOnly; SameSite=Strict"
                    )
            await send(message)

        if refused is not None:
            status, sentence = refused
            await answer(status, sentence)(scope, receive, with_headers)
            return
        await self._app(scope, _limited(receive, headers), with_headers)

    def _refusal(self, scope: Scope, headers: Headers, given: str | None) -> tuple[int, str] | None:
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        if headers.get("host", "").lower() not in self._hosts or len(headers.getlist("host")) != 1:
            return 403, _ELSEWHERE
        if origin is not None and origin.lower() not in self._origins:
            return 403, _ELSEWHERE
        # A link on another site, such as a terminal in a browser, may open a page; nothing else of it may come here.
        opens = scope["method"] == "GET" and headers.get("sec-fetch-mode") == "navigate" and given is not None
        if site not in (None, "same-origin", "none") and not opens:
            return 403, _ELSEWHERE
        bearer = headers.get("authorization", "").partition(" ")
        named = bearer[2] if bearer[0].lower() == "bearer" else None
        if self._is_token(given) or self._is_token(named):
            return _too_long(headers)
        changes = scope["method"] not in ("GET", "HEAD")
        if not self._is_token(self._kept(headers)) or (changes and origin is None):
            return 403, _NO_TOKEN
        return _too_long(headers)

    def _is_token(self, given: str | None) -> bool:
        return given is not None and hmac.compare_digest(
            given.encode("utf-8", "replace"), self._token.encode()
        )

    def _kept(self, headers: Headers) -> str | None:
        try:
            found = SimpleCookie(headers.get("cookie", "")).get(self._cookie)
        except CookieError:
            return None
        return found.value if found else None


def _too_long(headers: Headers) -> tuple[int, str] | None:
    length = headers.get("content-length", "0")
    if not length.isdecimal() or int(length) > MOST_BYTES:
        return 413, f"The request is longer than {MOST_BYTES:,} bytes: send a shorter text."
    return None


def _limited(receive: Receive, headers: Headers) -> Receive:
    """Stop reading a request that is longer than it said."""
    seen = 0

    async def read() -> MutableMapping[str, Any]:
        nonlocal seen
        message = await receive()
        seen += len(message.get("body", b""))
        if seen > MOST_BYTES:
            return {"type": "http.disconnect"}
        return message

    return read


def _in_address(scope: Scope) -> str | None:
    """Give the token that stands in the address of a page; data are asked for by cookie or header."""
    if scope["method"] != "GET":
        return None
    try:
        found = parse_qs(scope["query_string"].decode("latin-1"), max_num_fields=100).get(TOKEN)
    except ValueError:
        return None
    return found[0] if found else None


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host.lower()
