"""The hub's switch is thrown where the hub does not answer, and put back whatever happens."""

from __future__ import annotations

import socket

import pytest
from huggingface_hub import constants

from heedful.data.fetch import offline


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    monkeypatch.setattr(offline, "getproxies", dict)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)


def test_a_hub_that_answers_is_used(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{server.getsockname()[1]}")
        with offline.quick_to_give_up():
            assert not constants.HF_HUB_OFFLINE


def test_a_hub_that_does_not_answer_is_not_waited_for_and_the_switch_is_put_back(monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    monkeypatch.setattr(constants, "ENDPOINT", f"http://127.0.0.1:{port}")
    with pytest.raises(RuntimeError, match="inside"), offline.quick_to_give_up():
        assert constants.HF_HUB_OFFLINE
        raise RuntimeError("inside")
    assert not constants.HF_HUB_OFFLINE
