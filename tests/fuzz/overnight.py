"""Feed readers whatever an evolving fuzzer makes of valid files, for as long as you like: by hand, never in the suite.

pip install atheris
python -m tests.fuzz.overnight jsonl -max_total_time=3600
python -m tests.fuzz.overnight all -max_total_time=600     # one reader after the other

What it finds is written beside it as crash-…; add that content to the tests of the reader. Without atheris the same readers
are tried by hypothesis alone: FUZZ_EXAMPLES=100000 python -m pytest tests/fuzz.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path


def fuzz(name: str, flags: list[str]) -> None:
    """Fuzz one reader until the flags say it is enough."""
    try:
        import atheris
    except ImportError:
        sys.exit(
            "This needs atheris: pip install atheris, or use FUZZ_EXAMPLES=100000 python -m pytest tests/fuzz."
        )
    with atheris.instrument_imports(include=["heedful.intake", "heedful.data.corpora", "heedful.data.words"]):
        from tests.fuzz.readers import fault, readers
    reader = readers()[name]
    with tempfile.TemporaryDirectory() as temporary:
        folder, seeds = Path(temporary) / "fuzz", Path(temporary) / "seeds"
        folder.mkdir()
        seeds.mkdir()
        (seeds / "valid").write_bytes(reader.valid)

        def try_it(content: bytes) -> None:
            found = fault(reader, folder, content)
            if found is not None:
                raise found

        atheris.Setup([sys.argv[0], *flags, "-rss_limit_mb=2048", "-timeout=10", str(seeds)], try_it)
        atheris.Fuzz()


def main() -> None:
    """Fuzz the reader that is named, or all, each in a process of its own: the fuzzer ends its process."""
    from tests.fuzz.readers import readers

    if len(sys.argv) < 2 or sys.argv[1] not in ("all", *readers()):
        sys.exit(f"Name a reader, or all: {', '.join(readers())}.")
    name, flags = sys.argv[1], sys.argv[2:]
    if name != "all":
        fuzz(name, flags)
        return
    ended = {
        one: subprocess.run([sys.executable, "-m", "tests.fuzz.overnight", one, *flags], check=False)
        for one in readers()
    }
    sys.exit(", ".join(one for one, done in ended.items() if done.returncode) or None)


if __name__ == "__main__":
    main()
