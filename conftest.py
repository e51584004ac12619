"""A newcomer's machine for every test and doctest: an empty home, an empty cache, and real data only where they are asked for.

A test that asks for `real_data`, `asset` or `package_index` is marked `real`: `pytest -m real` runs exactly these.
Where what they ask for is not there they are skipped and say why; with HEEDFUL_REAL=1 they fail.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NoReturn

import pytest

Absent = Callable[[str], NoReturn]

GIVEN = dict(os.environ)
_HOME = Path(tempfile.mkdtemp(prefix="heedful-tests-"))
_REAL = {"real_data", "asset", "package_index"}


def _leave_the_user() -> None:
    """Point everything that is the user's at empty folders."""
    for name in GIVEN:
        if name.startswith(("HEEDFUL_", "XDG_", "HF_", "TRANSFORMERS_")):
            del os.environ[name]
    os.environ["HOME"] = str(_HOME)
    os.environ["HEEDFUL_CACHE"] = str(_HOME / "cache")


# While pytest reads this file, which is before it reads any other: some libraries look for their folders when imported.
_leave_the_user()


def pytest_unconfigure() -> None:
    """Take the empty home away."""
    shutil.rmtree(_HOME, ignore_errors=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what asks for something real, before tests are chosen by their marks."""
    for item in items:
        if _REAL & set(getattr(item, "fixturenames", ())):
            item.add_marker("real")


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Tell a worker process of pytest-xdist what the user gave: it is started after that was put aside."""
    node.workerinput["given"] = GIVEN


@pytest.fixture(autouse=True)
def same_numbers() -> None:
    """Begin every test with the same random numbers: what ran before it, and in which process, must not matter."""
    if torch := sys.modules.get("torch"):
        torch.manual_seed(0)


@pytest.fixture(scope="session")
def given(pytestconfig: pytest.Config) -> Mapping[str, str]:
    """The environment as the user gave it; nothing but the fixtures below may look."""
    workers: Mapping[str, Any] = getattr(pytestconfig, "workerinput", {})
    return workers.get("given", GIVEN)


@pytest.fixture
def absent(given: Mapping[str, str]) -> Absent:
    """Give a function that ends a test for want of something real: a skip, or a failure where that was asked for."""

    def end(reason: str) -> NoReturn:
        if given.get("HEEDFUL_REAL"):
            pytest.fail(f"HEEDFUL_REAL asks for tests of real things, and {reason}", pytrace=False)
        pytest.skip(reason)

    return end


@pytest.fixture
def real_data(monkeypatch: pytest.MonkeyPatch, given: Mapping[str, str], absent: Absent) -> Path:
    """The user's folder of real datasets, which this test sees as a user would."""
    folder = given.get("HEEDFUL_DATA")
    if not folder or not Path(folder).is_dir():
        absent("HEEDFUL_DATA does not point at a folder of real datasets")
    monkeypatch.setenv("HEEDFUL_DATA", str(Path(folder).resolve()))
    return Path(folder).resolve()


@pytest.fixture
def asset(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path_factory: pytest.TempPathFactory,
    given: Mapping[str, str],
    absent: Absent,
) -> Callable[[str], Path]:
    """Give a function that takes one asset of the user's cache into this test's own, and gives its folder there."""
    from heedful.data.fetch import assets
    from heedful.data.fetch.cache import cache_folder

    with pytest.MonkeyPatch.context() as patch:
        _give_back(given, patch, "HOME", "XDG_CACHE_HOME", "HEEDFUL_CACHE")
        theirs = cache_folder()
    ours = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("HEEDFUL_CACHE", str(ours))

    def take(name: str) -> Path:
        folder = assets.assets()[name].folder
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.symlink_to(theirs.resolve() / folder.relative_to(ours), target_is_directory=True)
        if assets.find(name) is None:
            absent(f"{name} is not in the cache: heedful data get {name}")
        return folder

    return take


@pytest.fixture
def package_index(monkeypatch: pytest.MonkeyPatch, given: Mapping[str, str]) -> None:
    """Let pip find packages as it does for the user, whose settings lie at home."""
    _give_back(given, monkeypatch, "HOME", "XDG_CONFIG_HOME")


def _give_back(given: Mapping[str, str], patch: pytest.MonkeyPatch, *names: str) -> None:
    for name in names:
        if name in given:
            patch.setenv(name, given[name])
        else:
            patch.delenv(name, raising=False)
