"""An address where no Ray cluster is is refused in a sentence, and soon."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator

import pytest
from tests.patience import PATIENCE

from heedful.errors import BadInput
from heedful.scale import cluster_address
from heedful.scale.cluster_address import check_reachable


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def address(server: socket.socket) -> str:
    return f"127.0.0.1:{server.getsockname()[1]}"


def answering(server: socket.socket, answer: bytes) -> threading.Thread:
    def serve() -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(1024)
            connection.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    return thread


def test_nobody_listens(listening):
    gone = address(listening)
    listening.close()
    with pytest.raises(BadInput, match=rf"No Ray cluster can be reached at {gone} .connection refused."):
        check_reachable(gone)


def test_somebody_listens_and_says_nothing(listening, monkeypatch):
    monkeypatch.setattr(cluster_address, "_PATIENCE", 0.2)
    with pytest.raises(BadInput, match="no answer"):
        check_reachable(address(listening))


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\0\0\0\x07\0\0\0\0\0"])
def test_somebody_else_answers(listening, answer):
    thread = answering(listening, answer)
    with pytest.raises(BadInput, match=r"is not a Ray cluster|can be reached"):
        check_reachable(address(listening))
    thread.join()


def test_a_server_of_the_right_kind_is_let_in(listening, monkeypatch):
    monkeypatch.setattr(
        cluster_address, "_PATIENCE", float(PATIENCE)
    )  # it answers at once, and the machine may not
    thread = answering(listening, b"\0\0\0\x04\0\0\0\0\0")
    check_reachable(address(listening))
    thread.join()


def test_a_name_that_no_machine_has():
    with pytest.raises(BadInput, match=r"No Ray cluster can be reached at no-such-machine.invalid:6379"):
        check_reachable("no-such-machine.invalid:6379")
