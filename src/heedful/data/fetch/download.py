"""Fetch a wheel as a file: never installed, never imported, and trusted only after its hash is checked."""

from __future__ import annotations

import errno
import hashlib
import http.client
import json
import os
import re
import shutil
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from heedful.data.fetch.asset_table import Asset
from heedful.errors import BadInput
from heedful.progress import Update
from heedful.storage import disk_errors

_ATTEMPTS = 5
_CHUNK = 1 << 20
_OF_YOUR_OWN = {
    "dataset": "give a CSV, JSONL or Parquet file of your own",
    "vectors": "give a file of your own with --vectors PATH",
    "transformer": "give a model of your own with --encoder hf:PATH",
}


def fetch_wheel(asset: Asset, folder: Path, *, update: Update) -> Path:
    """Give the asset's wheel in `folder`, its hash checked, going on from the bytes already there.

    pip finds the address, so that its index, mirrors and credentials are those the user has configured. Over
    HTTP the bytes are then fetched here, because pip forgets a download that is interrupted; whatever goes
    wrong there, pip downloads the whole wheel itself.
    """
    wheel = folder / f"{asset.wheel}-{asset.version}.whl"
    partial = wheel.with_suffix(".partial")
    if wheel.exists():
        if _sha256(wheel) == asset.sha256:
            return wheel
        wheel.unlink()
    update(f"Downloading {asset.name} ({asset.size_mb:g} MB)")
    address = _address(asset)
    fetched = address.startswith("http") and _fetch(address, partial, asset, update=update)
    if not fetched:
        _download_with_pip(asset, partial)
    found = _sha256(partial)
    if found != asset.sha256:
        partial.unlink()
        raise BadInput(
            f"The package index gave another {asset.wheel} {asset.version} than the one heedful knows "
            f"(SHA-256 {found[:12]}… instead of {asset.sha256[:12]}…), so it was deleted unread: "
            "check the index that pip uses."
        )
    partial.replace(wheel)
    return wheel


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _fetch(address: str, partial: Path, asset: Asset, *, update: Update) -> bool:
    """Bring `partial` to its full length, or say that this way does not work."""
    for _ in range(_ATTEMPTS):
        before = partial.stat().st_size if partial.exists() else 0
        if before and _sha256(partial) == asset.sha256:
            return True
        try:
            _append(address, partial, asset, update=update)
        except urllib.error.HTTPError as error:
            if error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
                return False
            partial.unlink()  # it has as many bytes as the wheel or more, and is not the wheel
        except (OSError, http.client.HTTPException):
            continue  # what has arrived so far stays
        else:
            if before == 0 or _sha256(partial) == asset.sha256:
                return True
            partial.unlink()  # the earlier bytes were bad: once more from the beginning
    return False


def _append(address: str, partial: Path, asset: Asset, *, update: Update) -> None:
    """Ask for the bytes that are missing and add them as they come."""
    have = partial.stat().st_size if partial.exists() else 0
    # A wheel is compressed already; a server that compresses it again would shift the ranges.
    headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
    request = urllib.request.Request(address, headers=headers)
    with urllib.request.urlopen(request, timeout=60, context=_certificates()) as answer:
        if answer.status != http.HTTPStatus.PARTIAL_CONTENT:
            have = 0
        whole = have + int(answer.headers["Content-Length"] or 0)
        with disk_errors(partial):
            file = partial.open("ab" if have else "wb")
        with file:
            while chunk := answer.read(_CHUNK):
                with disk_errors(partial):
                    file.write(chunk)
                    file.flush()
                have += len(chunk)
                update(f"Downloading {asset.name}: {have / 1e6:.1f} of {asset.size_mb:.1f} MB")
    if have < whole:
        raise ConnectionResetError("the connection ended early")


def _certificates() -> ssl.SSLContext:
    """Trust what pip trusts."""
    chosen = os.environ.get("PIP_CERT") or _pip("config", "get", "global.cert").stdout.strip()
    return ssl.create_default_context(cafile=chosen or None)


def _address(asset: Asset) -> str:
    """Ask pip where the wheel is. With an index that serves metadata this costs a few kilobytes."""
    answer = _pip(
        *(
            "install",
            "--dry-run",
            "--ignore-installed",
            "--no-user",
            "--report",
            "-",
            "--quiet",
            "--retries",
            "1",
        ),
        *_wanted(asset),
    )
    if answer.returncode != 0:
        raise _refusal(asset, answer.stderr)
    return str(json.loads(answer.stdout)["install"][0]["download_info"]["url"])


def _download_with_pip(asset: Asset, target: Path) -> None:
    """Let pip fetch the whole wheel to `target`."""
    prefix = f".pip-{asset.wheel}-"
    for leftover in target.parent.glob(prefix + "*"):
        shutil.rmtree(leftover, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=prefix, dir=target.parent) as folder:
        answer = _pip("download", "--quiet", "-d", folder, *_wanted(asset))
        if answer.returncode != 0:
            raise _refusal(asset, answer.stderr)
        next(Path(folder).glob("*.whl")).replace(target)


def _wanted(asset: Asset) -> tuple[str, ...]:
    # Nothing is installed, so it does not matter for which Python the wheel was meant.
    return ("--no-deps", "--only-binary=:all:", "--ignore-requires-python", f"{asset.wheel}=={asset.version}")


def _pip(*arguments: str) -> subprocess.CompletedProcess[str]:
    # -P: a file of the user's working folder must not be taken for one of pip's modules.
    command = [sys.executable, "-P", "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", check=False)


def _refusal(asset: Asset, message: str) -> BadInput | OSError:
    """Say in one sentence why pip did not deliver, and what to do."""
    if os.strerror(errno.ENOSPC) in message:
        return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    lines = [line.removeprefix("ERROR: ") for line in message.splitlines() if line.strip()] or [
        "no reason given"
    ]
    wanted = f"{asset.wheel} {asset.version}"
    if "No module named pip" in message:
        why, remedy = "this Python has no pip", "Run `python -m ensurepip`"
    elif "connection broken by" in message or "Could not fetch URL" in message:
        refusals = re.findall(r"\[Errno -?\d+\] [^'\")]+", message)
        why, remedy = f"no package index is reachable ({(refusals or lines)[-1]})", "Connect"
    elif "No matching distribution" in message:
        why, remedy = f"the package index that pip uses has no {wanted}", "Choose another index"
    else:
        why, remedy = f"pip cannot fetch {wanted} ({lines[-1]})", "Fix that"
    own = _OF_YOUR_OWN.get(asset.kind, "run the same command again later")
    return BadInput(f"Cannot download {asset.name}: {why}. {remedy}, or {own}.")
