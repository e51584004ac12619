"""One hash for the content of a generated corpus."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from heedful.data.corpus import Split


def fingerprint(splits: Mapping[str, Split]) -> str:
    """Hash every split's name, texts, queries and labels with SHA-256, as hexadecimal digits."""
    digest = hashlib.sha256()
    for name, split in splits.items():
        # The zero byte keeps ("ab", "c") apart from ("a", "bc"); no text of ours holds one.
        for text in (name, *split.texts, *(split.queries or ())):
            digest.update(text.encode("utf-8") + b"\0")
        digest.update(split.labels.astype("<i8").tobytes())
    return digest.hexdigest()
