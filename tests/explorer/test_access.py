"""Who may ask: this machine, with the token, from the explorer's own pages."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest
from fastapi.testclient import TestClient

from heedful.errors import BadInput
from heedful.explorer.serving import listen

HERE, TOKEN, COOKIE = "http://127.0.0.1:8765", "a-token-for-tests", "heedful-8765"


def asked(client: TestClient, path: str = "/api/models", method: str = "GET", **headers: str) -> Any:
    """Ask with these headers alone, and no cookies."""
    bare = TestClient(client.app, base_url=HERE, follow_redirects=False)
    return bare.request(method, path, headers=headers)


def every_path(client: TestClient) -> list[tuple[str, str]]:
    paths = client.get("/openapi.json").json()["paths"]
    found = [
        (method.upper(), path.replace("{", "").replace("}", ""))
        for path, some in paths.items()
        for method in some
    ]
    pages = ("/", "/try", "/attack", "/look", "/compare", "/papers", "/papers/seat", "/openapi.json")
    return [*found, *(("GET", page) for page in (*pages, "/static/try.js", "/static/palette.css"))]


def test_nothing_is_answered_without_the_token(client: TestClient) -> None:
    paths = every_path(client)
    assert len(paths) > 20
    for method, path in paths:
        found = asked(client, path, method)
        assert found.status_code == 403, (method, path)
        assert "token" in found.json()["error"]


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": "Bearer wrong"},
        {"authorization": f"Basic {TOKEN}"},
        {"authorization": TOKEN},
        {"cookie": f"{COOKIE}=wrong"},
        {"cookie": f"heedful-1={TOKEN}"},
        {"cookie": "\x00;=;;"},
    ],
)
def test_a_wrong_token_is_none(client: TestClient, headers: dict[str, str]) -> None:
    assert asked(client, **headers).status_code == 403


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:8765", "127.0.0.1:1", "127.0.0.1", "", "127.0.0.1:8765.evil.example"],
)
def test_another_host_is_refused_even_with_the_token(client: TestClient, host: str) -> None:
    found = asked(client, host=host, authorization=f"Bearer {TOKEN}")
    assert found.status_code == 403
    assert "another" in found.json()["error"]


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "https://127.0.0.1:8765",
        "http://127.0.0.1:80",
        "http://127.0.0.1:8765.evil.example",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "DELETE"])
def test_another_origin_is_refused_even_with_the_token(client: TestClient, origin: str, method: str) -> None:
    for kept in ({"authorization": f"Bearer {TOKEN}"}, {"cookie": f"{COOKIE}={TOKEN}"}):
        assert asked(client, "/api/work", method, origin=origin, **kept).status_code == 403


def test_what_a_browser_sends_from_another_site_is_refused(client: TestClient) -> None:
    kept = {"cookie": f"{COOKIE}={TOKEN}"}
    for site in ("cross-site", "same-site"):
        assert asked(client, **kept, **{"sec-fetch-site": site}).status_code == 403
    for site in ("same-origin", "none"):
        assert asked(client, **kept, **{"sec-fetch-site": site}).status_code == 200


def test_a_link_elsewhere_may_open_a_page_with_the_token_and_nothing_else(client: TestClient) -> None:
    link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    assert asked(client, f"/try?token={TOKEN}", **link).status_code == 200
    assert asked(client, "/try?token=wrong", **link).status_code == 403
    assert asked(client, "/try", cookie=f"{COOKIE}={TOKEN}", **link).status_code == 403
    assert (
        asked(client, f"/api/models?token={TOKEN}", **{**link, "sec-fetch-mode": "no-cors"}).status_code
        == 403
    )


def test_a_cookie_alone_changes_nothing_unless_the_page_says_where_it_comes_from(client: TestClient) -> None:
    kept = {"cookie": f"{COOKIE}={TOKEN}"}
    assert asked(client, "/api/work", "POST", **kept).status_code == 403
    assert (
        asked(client, "/api/work", "POST", **kept, origin=HERE).status_code == 422
    )  # let in, and found empty
    assert asked(client, "/api/work", "POST", authorization=f"Bearer {TOKEN}").status_code == 422


def test_the_token_in_an_address_is_kept_where_no_script_and_no_other_site_sees_it(
    client: TestClient,
) -> None:
    opened = asked(client, f"/?token={TOKEN}")
    assert opened.status_code == 200
    cookie = opened.headers["set-cookie"]
    assert cookie.startswith(f"{COOKIE}={TOKEN};")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert TOKEN not in opened.text
    assert "set-cookie" not in asked(client, authorization=f"Bearer {TOKEN}").headers
    assert asked(client, "/?token=%C3%A9").status_code == 403


def test_every_answer_has_the_policy(client: TestClient) -> None:
    for path, headers in (
        ("/", {"authorization": f"Bearer {TOKEN}"}),
        ("/nowhere", {"authorization": f"Bearer {TOKEN}"}),
        ("/", {}),
    ):
        found = asked(client, path, **headers).headers
        policy = dict(part.split(" ", 1) for part in found["content-security-policy"].split("; "))
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert "unsafe" not in found["content-security-policy"]
        assert found["x-content-type-options"] == "nosniff"
        assert found["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in found


def test_pages_hold_no_script_and_no_style_of_their_own(client: TestClient) -> None:
    for path in ("/try", "/attack", "/look", "/compare", "/papers", "/papers/seat"):
        page = client.get(path).text
        assert "<style" not in page
        assert " style=" not in page
        assert " onclick" not in page
        assert all('src="/static/' in part.split(">")[0] for part in page.split("<script")[1:])


def test_a_long_request_is_refused(client: TestClient) -> None:
    found = client.post("/api/work", content=b"x" * 2_000_000)
    assert found.status_code == 413
    assert client.post("/api/work", content=(b"x" * 600_000 for _ in range(3))).status_code in (400, 413)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_answers_are_sent_at_once(host: str) -> None:
    """An answer is written in two parts: the second must not wait until the browser has acknowledged the first."""
    seen = []

    async def serve_one() -> None:
        async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            seen.append(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        taken = listen(host, 0)
        async with await asyncio.start_server(answer, sock=taken):
            reader, writer = await asyncio.open_connection(*taken.getsockname()[:2])
            await reader.read()
            writer.close()

    try:
        asyncio.run(serve_one())
    except BadInput:
        assert host == "::1"  # a machine without it
        pytest.skip("this machine has no ::1")
    assert seen and all(seen)
