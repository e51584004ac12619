"""Assets are fetched by the real pip, from wheels made here, without a network unless a test says so."""

import gzip
import hashlib
import http.server
import json
import os
import re
import subprocess
import sys
import threading
import zipfile

import pytest

from heedful.data.fetch import asset_table, assets, download, unpack
from heedful.data.fetch.cache import cache_folder, data_folders
from heedful.errors import BadInput

CSV = """text,label,source
so  bad<br />truly,0,films
"good, fine",1,films
other,1,elsewhere
so bad truly,0,films
"""
CONTENT = {
    "pkg/data/vectors.txt": b"a 1 2\n" * 50_000,
    "pkg/data/sub/note.txt": b"note",
    "pkg/data/reviews.csv": CSV.encode(),
    "pkg/news/sport/1.txt": "won £3".encode("latin-1"),
    "pkg/news/tech/1.txt": b"chip\n\nfast",
    "pkg/__init__.py": b"raise SystemExit('a wheel must never be imported')",
}
OPEN_MEMBER = zipfile.ZipFile.open


class Shop:
    """A folder of wheels that pip finds, and the table that lists what is in them."""

    def __init__(self, folder, monkeypatch):
        self.folder = folder
        self.table = {}
        monkeypatch.setattr(assets, "assets", lambda: self.table)

    def offer(self, name="toy", content=CONTENT, **fields):
        """Make a wheel and list it."""
        wheel = self.folder / f"{name}_wheel-1.0-py3-none-any.whl"
        info = f"{name}_wheel-1.0.dist-info"
        with zipfile.ZipFile(wheel, "w") as archive:  # stored, so that it is long enough to be cut in two
            for path, data in content.items():
                archive.writestr(path, data)
            archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}-wheel\nVersion: 1.0\n")
            archive.writestr(
                f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            archive.writestr(f"{info}/RECORD", "")
        listed = {
            "name": name,
            "kind": "vectors",
            "description": "a toy",
            "wheel": f"{name}-wheel",
            "version": "1.0",
            "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
            "size_mb": 0.3,
            "licence": "MIT",
            "root": "pkg/data/",
            "members": ("vectors.txt", "sub/"),
        }
        self.table[name] = asset_table.Asset(**(listed | fields))
        return wheel


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HEEDFUL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def shop(tmp_path, monkeypatch, cache):
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    return Shop(folder, monkeypatch)


@pytest.fixture
def index(shop, monkeypatch):
    """The same wheels behind HTTP, as an index that honours ranges. Gives the ranges it was asked for."""
    ranges = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            path = shop.folder / self.path.rsplit("/", 1)[-1]
            if path.suffix != ".whl":
                links = "".join(f'<a href="/files/{p.name}">{p.name}</a>' for p in shop.folder.iterdir())
                return self.answer(200, links.encode(), "text/html")
            asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
            data = path.read_bytes()
            # pip looks for metadata with an agent of its own; only heedful's requests are recorded.
            if "pip" not in self.headers["User-Agent"]:
                ranges.append(self.headers.get("Range"))
            if asked and int(asked[1]) >= len(data):
                return self.answer(416, b"", "text/plain")
            return self.answer(
                206 if asked else 200, data[int(asked[1]) if asked else 0 :], "application/zip"
            )

        def answer(self, status, body, kind):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple")
    yield ranges
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def no_pip(monkeypatch):
    """From here on, any call of pip fails the test."""

    def forbid():
        def called(*arguments, **_):
            pytest.fail(f"pip was called: {arguments}")

        monkeypatch.setattr(subprocess, "run", called)

    return forbid


def tree(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def rows(folder):
    lines = gzip.decompress((folder / "train.jsonl.gz").read_bytes()).decode("utf-8").splitlines()
    return sorted((row["text"], row["label"]) for row in map(json.loads, lines))


def test_the_listed_members_arrive_and_nothing_else(shop, cache, recorder):
    shop.offer()
    assert assets.find("toy") is None
    folder = assets.get("toy", watcher=recorder)
    assert folder == cache / "assets" / "toy" == assets.find("toy")
    assert tree(folder) == {"vectors.txt", "sub/note.txt", "asset.json"}
    assert (folder / "vectors.txt").read_bytes() == CONTENT["pkg/data/vectors.txt"]
    assert recorder.doing[1] == "Downloading toy (0.3 MB)"
    assert recorder.doing[-1] == "Unpacking toy"
    assert not list((cache / "downloads").glob("*.whl"))


def test_a_second_call_asks_nobody(shop, no_pip):
    shop.offer()
    folder = assets.get("toy")
    no_pip()
    assert assets.get("toy") == folder


def test_no_members_means_all_below_the_root(shop):
    shop.offer(members=())
    assert tree(assets.get("toy")) == {"vectors.txt", "sub/note.txt", "reviews.csv", "asset.json"}


def test_a_csv_becomes_a_dataset_folder(shop, cache):
    shop.offer(
        kind="dataset",
        members=("reviews.csv",),
        rows="films",
        labels=("negative", "positive"),
        notes="Only train.",
    )
    folder = assets.get("toy")
    assert folder == data_folders()[-1] / "toy" == cache / "data" / "toy"
    assert rows(folder) == [("good, fine", 1), ("so bad truly", 0), ("so bad truly", 0)]
    meta = json.loads((folder / "meta.json").read_text())
    assert list(meta) == ["dataset", "task", "labels", "source", "licence", "notes", "splits"]
    assert meta["labels"] == ["negative", "positive"]
    assert meta["notes"].startswith("Only train.")
    assert "1 texts repeat" in meta["notes"]
    assert meta["splits"]["train"]["rows"] == 3
    assert meta["splits"]["train"]["per_class"] == {"0": 2, "1": 1}


def test_a_folder_for_each_class_becomes_a_dataset_folder(shop):
    shop.offer(kind="dataset", root="pkg/news/", members=(), labels=("sport", "tech"))
    assert rows(assets.get("toy")) == [("chip fast", 1), ("won £3", 0)]


def test_a_wheel_with_another_hash_is_deleted_unread(shop, cache, monkeypatch):
    shop.offer(sha256="0" * 64)
    monkeypatch.setattr(assets, "unpack", lambda *_: pytest.fail("an unchecked wheel was opened"))
    with pytest.raises(BadInput, match=r"SHA-256 [0-9a-f]{12}… instead of 000000000000…"):
        assets.get("toy")
    assert assets.find("toy") is None
    assert tree(cache) == {"downloads/toy-wheel-1.0.lock"}


@pytest.mark.parametrize(
    "path", ["pkg/data/../../../evil.txt", "pkg/data//evil.txt", "pkg/data/C:\\evil.txt"]
)
def test_a_member_that_would_leave_the_folder_is_refused(shop, cache, tmp_path, path):
    shop.offer(content=CONTENT | {path: b"evil"}, members=())
    with pytest.raises(BadInput, match="would leave its folder"):
        assets.get("toy")
    assert assets.find("toy") is None
    assert not list((cache / "assets").iterdir())
    assert not list(tmp_path.rglob("*evil*"))


def test_a_member_that_is_not_there(shop):
    shop.offer(members=("vectors.txt", "gone.txt"))
    with pytest.raises(BadInput, match=r"does not hold pkg/data/gone\.txt"):
        assets.get("toy")


def test_an_interrupted_extraction_leaves_nothing_and_keeps_the_wheel(shop, cache, monkeypatch, no_pip):
    shop.offer()

    def interrupted(archive, name, *arguments, **options):
        if str(name).endswith("note.txt"):
            raise KeyboardInterrupt
        return OPEN_MEMBER(archive, name, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(zipfile.ZipFile, "open", interrupted)
        with pytest.raises(KeyboardInterrupt):
            assets.get("toy")
    assert assets.find("toy") is None
    assert not list((cache / "assets").iterdir())
    no_pip()  # the wheel was checked already, so it is not fetched again
    assert tree(assets.get("toy")) == {"vectors.txt", "sub/note.txt", "asset.json"}


def test_what_a_killed_process_left_is_not_taken_for_complete_and_is_cleaned_up(shop, cache):
    shop.offer()
    leftover = cache / "assets" / ".unpacking-toy-killed" / "whole"
    leftover.mkdir(parents=True)
    (leftover / "vectors.txt").write_text("half")
    download_leftover = cache / "downloads" / ".pip-toy-wheel-killed"
    download_leftover.mkdir(parents=True)
    assert assets.find("toy") is None
    assets.get("toy")
    assert [path.name for path in (cache / "assets").iterdir()] == ["toy"]
    assert not download_leftover.exists()


def test_a_damaged_or_outdated_folder_is_replaced(shop):
    shop.offer()
    folder = assets.get("toy")
    (folder / "sub" / "note.txt").unlink()
    assert assets.find("toy") is None
    assert (assets.get("toy") / "sub" / "note.txt").exists()
    shop.offer(content=CONTENT | {"pkg/data/sub/note.txt": b"a newer note"})
    assert assets.find("toy") is None
    assert (assets.get("toy") / "sub" / "note.txt").read_bytes() == b"a newer note"


def test_the_loser_of_a_race_uses_the_winners_folder(shop, tmp_path, monkeypatch):
    wheel = shop.offer()
    folder = assets.get("toy")
    (folder / "of-the-winner").touch()
    winner = folder.rename(tmp_path / "winner")
    write = unpack._write_members

    def write_and_be_overtaken(*arguments):
        write(*arguments)
        winner.rename(folder)

    monkeypatch.setattr(unpack, "_write_members", write_and_be_overtaken)
    unpack.unpack(shop.table["toy"], wheel)
    assert assets.find("toy") == folder
    assert (folder / "of-the-winner").exists()
    assert [path.name for path in folder.parent.iterdir()] == ["toy"]


def test_processes_that_fetch_the_same_asset_at_once(shop, cache, tmp_path):
    shop.offer()
    (tmp_path / "table.json").write_text(shop.table["toy"].model_dump_json())
    program = (
        "import sys, pathlib; from contextlib import contextmanager\n"
        "from heedful.data.fetch import assets; from heedful.progress import Quiet\n"
        "class Printing(Quiet):\n"
        "    @contextmanager\n"
        "    def status(self, doing):\n"
        "        yield lambda doing: print(doing, file=sys.stderr)\n"
        "toy = assets.Asset.model_validate_json(pathlib.Path(sys.argv[1]).read_text())\n"
        "assets.assets = lambda: {'toy': toy}\n"
        "print(assets.get('toy', watcher=Printing()))\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "table.json")]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)
    ]
    answers = [process.communicate() for process in running]
    assert {out.strip() for out, _ in answers} == {str(cache / "assets" / "toy")}
    assert sum("Unpacking toy" in err for _, err in answers) == 1
    assert assets.find("toy") is not None


@pytest.mark.parametrize("cut", [0, 1, 200_000])
def test_an_interrupted_download_goes_on_from_the_bytes_it_has(shop, index, cache, cut):
    wheel = shop.offer()
    (cache / "downloads").mkdir(parents=True)
    (cache / "downloads" / "toy-wheel-1.0.partial").write_bytes(wheel.read_bytes()[:cut])
    assert tree(assets.get("toy")) == {"vectors.txt", "sub/note.txt", "asset.json"}
    assert index == [f"bytes={cut}-" if cut else None]


def test_a_download_that_was_whole_is_not_fetched_again(shop, index, cache):
    wheel = shop.offer()
    (cache / "downloads").mkdir(parents=True)
    (cache / "downloads" / "toy-wheel-1.0.partial").write_bytes(wheel.read_bytes())
    assets.get("toy")
    assert index == []


@pytest.mark.parametrize("length", [100, 10_000_000])
def test_bad_bytes_of_an_earlier_download_are_thrown_away(shop, index, cache, length):
    shop.offer()
    (cache / "downloads").mkdir(parents=True)
    (cache / "downloads" / "toy-wheel-1.0.partial").write_bytes(b"x" * length)
    assets.get("toy")
    assert index == [f"bytes={length}-", None]


def test_where_ranges_do_not_work_pip_fetches_the_wheel(shop, index, monkeypatch):
    shop.offer()

    def broken(*_, **__):
        raise ConnectionResetError("reset by peer")

    monkeypatch.setattr(download.urllib.request, "urlopen", broken)
    assert "vectors.txt" in tree(assets.get("toy"))
    assert index == []


def test_an_index_that_cannot_be_reached(shop, monkeypatch):
    shop.offer()
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(BadInput) as error:
        assets.get("toy")
    assert re.fullmatch(
        r"Cannot download toy: no package index is reachable \(\[Errno \d+\] Connection refused\)\. "
        r"Connect, or give a file of your own with --vectors PATH\.",
        str(error.value),
    )


def test_an_index_without_the_wheel(shop):
    shop.offer().unlink()
    with pytest.raises(
        BadInput, match=r"Cannot download toy: the package index that pip uses has no toy-wheel 1\.0\."
    ):
        assets.get("toy")


def test_a_python_without_pip(shop, monkeypatch):
    shop.offer(kind="lexicon")
    answer = subprocess.CompletedProcess([], 1, stdout="", stderr="python: No module named pip\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: answer)
    with pytest.raises(BadInput, match=r"this Python has no pip\. Run `python -m ensurepip`"):
        assets.get("toy")


def test_a_full_disk_while_pip_works(shop, monkeypatch):
    shop.offer()
    answer = subprocess.CompletedProcess(
        [], 1, stdout="", stderr="ERROR: [Errno 28] No space left on device\n"
    )
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: answer)
    with pytest.raises(BadInput, match="The disk is full"):
        assets.get("toy")


def test_a_folder_that_cannot_be_written(shop, cache):
    shop.offer()
    cache.write_text("a file where the cache should be")
    with pytest.raises(BadInput, match="Cannot write"):
        assets.get("toy")


def test_an_unknown_name():
    with pytest.raises(BadInput, match=r"nothing named 'glove-6b-50' to get: did you mean glove-6b-50d\?"):
        assets.get("glove-6b-50")
    with pytest.raises(BadInput, match="choose one of bbc_news, "):
        assets.find("zzz")


def test_the_table_lists_every_asset_with_a_checkable_hash():
    table = assets.assets()
    assert set(table) >= {
        "rotten_tomatoes",
        "imdb",
        "bbc_news",
        "glove-6b-50d",
        "glove-840b-300d",
        "minilm-l6",
    }
    for name, asset in table.items():
        assert asset.name == name
        assert re.fullmatch("[0-9a-f]{64}", asset.sha256)
        assert asset.root.endswith("/")
        assert bool(asset.labels) == (asset.kind == "dataset")
        assert asset.members or asset.kind != "vectors"


def test_where_things_are_kept(monkeypatch, tmp_path):
    monkeypatch.setenv("HEEDFUL_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    assert data_folders() == [tmp_path / "data"]
    monkeypatch.setenv("HEEDFUL_DATA", str(tmp_path / "mine"))
    assert data_folders() == [tmp_path / "mine", tmp_path / "data"]
    monkeypatch.delenv("HEEDFUL_CACHE")
    assert cache_folder().name == "heedful"


def test_a_real_asset_from_the_real_index(package_index, cache, absent):
    try:
        folder = assets.get("opinion-words")
    except BadInput as error:
        if "no package index is reachable" not in str(error):
            raise
        absent(str(error))
    lines = (folder / "vader_lexicon.txt").read_text(encoding="utf-8").splitlines()
    scores = {line.split("\t")[0]: float(line.split("\t")[1]) for line in lines}
    assert len(scores) > 7000
    assert scores["horrible"] < 0 < scores["wonderful"]
