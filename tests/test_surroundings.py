"""What the suite sees of the machine it runs on: nothing of the user's, unless a test asks for it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from huggingface_hub import constants

from heedful.data.corpora.synthetic.opinion_words import opinion_words
from heedful.data.fetch import assets
from heedful.data.fetch.cache import cache_folder, data_folders

HERE = Path(__file__)
ROOT = HERE.parent.parent
SEES, ASKS = "test_home_cache_and_data_are_nobodys", "test_what_is_asked_for_is_seen"


def test_home_cache_and_data_are_nobodys() -> None:
    home = Path.home()
    assert home.name.startswith("heedful-tests-")
    assert Path(constants.HF_HOME).is_relative_to(home)  # the hub's libraries looked when they were imported
    assert data_folders() == [cache_folder() / "data"] == [home / "cache" / "data"]
    assert all(assets.find(name) is None for name in assets.assets())
    assert "packaged" in opinion_words().source


def test_what_is_asked_for_is_seen(real_data: Path) -> None:
    assert data_folders() == [real_data, cache_folder() / "data"]


@pytest.fixture
def users(tmp_path: Path) -> dict[str, str]:
    """A user who has everything: data, a cache with downloads, a home, and settings that point at them."""
    lists = tmp_path / "data" / "lexicon"
    lists.mkdir(parents=True)
    for polarity in ("positive", "negative"):
        (lists / f"{polarity}-words.txt").write_text(f"{polarity}\n")
    for cache in ("cache", "home/.cache/heedful", "xdg/heedful"):
        fetched = tmp_path / cache / "assets" / "opinion-words"
        fetched.mkdir(parents=True)
        (fetched / "vader_lexicon.txt").write_text("fine\t2.0\t1\t[]\n")
    return {
        "HOME": str(tmp_path / "home"),
        "XDG_CACHE_HOME": str(tmp_path / "xdg"),
        "HEEDFUL_CACHE": str(tmp_path / "cache"),
        "HEEDFUL_DATA": str(tmp_path / "data"),
        "HF_HOME": str(tmp_path / "hub"),
    }


def pytest_of(*words: str, **environment: str) -> str:
    """Run pytest in a process of its own, and give what it prints."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *words]
    done = subprocess.run(
        command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    return done.stdout


def test_a_users_own_things_are_seen_where_they_are_asked_for_and_nowhere_else(users: dict[str, str]) -> None:
    assert "2 passed" in pytest_of(f"{HERE}::{SEES}", f"{HERE}::{ASKS}", **users)


@pytest.mark.parametrize(("wanted", "end"), [("", "1 skipped, 4 deselected"), ("1", "4 deselected, 1 error")])
def test_real_things_that_are_missing_are_a_skip_or_where_they_are_wanted_a_failure(
    wanted: str, end: str
) -> None:
    """Of this file, exactly one test is marked as asking for them."""
    said = pytest_of("-m", "real", str(HERE), HEEDFUL_REAL=wanted)
    assert end in said and "HEEDFUL_DATA does not point at a folder of real datasets" in said
