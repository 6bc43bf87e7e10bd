"""The Python packages that a manifest asks for, against those that are installed."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata

from toolyard_runner.dialect import LoadError

_CLAUSE = re.compile(r"^\s*(~=|===|==|!=|<=|>=|<|>)\s*v?([0-9][^\s]*)\s*$")
_RELEASE = re.compile(r"^v?(\d+(?:\.\d+)*)")

Release = tuple[int, ...]


@dataclass(frozen=True)
class Package:
    """One package as the manifest names it."""

    name: str
    version_spec: str

    @property
    def requirement(self) -> str:
        return self.name + ("" if self.version_spec in ("", "*") else self.version_spec.replace(" ", ""))


def read(options: object) -> list[Package]:
    """The packages in the options of the `load` frame."""
    records = options if isinstance(options, list) else []
    return [
        Package(str(record.get("name", "")), str(record.get("version_spec", "")).strip())
        for record in records
        if isinstance(record, dict) and record.get("name")
    ]


def missing(packages: list[Package]) -> list[Package]:
    """Packages that are not installed. One in a version that contradicts the manifest is an error."""
    absent, conflicts = [], []
    for package in packages:
        try:
            installed = metadata.version(package.name)
        except metadata.PackageNotFoundError:
            absent.append(package)
            continue
        if not admits(package.version_spec, installed):
            conflicts.append(
                f"{package.name} {installed} is installed, and the manifest asks for {package.version_spec}"
            )
    if conflicts:
        raise LoadError("dependencies", "; ".join(conflicts), "")
    return absent


def install_command(packages: list[Package]) -> str:
    """What to type to get these packages."""
    requirements = " ".join(shlex.quote(package.requirement) for package in packages)
    return f"{shlex.quote(sys.executable)} -m pip install {requirements}"


def advice(error: BaseException, absent: list[Package]) -> str:
    """A sentence to add to a failed import, where a missing package explains it."""
    if not isinstance(error, ModuleNotFoundError) or not absent:
        return ""
    root = _plain((error.name or "").split(".")[0])
    # A module is not always called as its package is; then any of them may be the one.
    wanted = [package for package in absent if _plain(package.name) == root] or absent
    return f"; install what the manifest asks for with: {install_command(wanted)}"


def admits(version_spec: str, installed: str) -> bool:
    """Whether a version meets a specifier. What is not understood admits everything."""
    release = _release(installed)
    if release is None:
        return True
    return all(_meets(clause, release) for clause in version_spec.split(",") if clause.strip())


def _meets(clause: str, release: Release) -> bool:
    match = _CLAUSE.match(clause)
    if match is None:
        return True
    operator, word = match.groups()
    bound = _release(word)
    if bound is None:
        return True
    if word.endswith(".*"):
        is_prefix = _padded(release, len(bound))[: len(bound)] == bound
        return {"==": is_prefix, "!=": not is_prefix}.get(operator, True)
    width = max(len(bound), len(release))
    own, other = _padded(release, width), _padded(bound, width)
    if operator == "~=":
        return own >= other and release[: len(bound) - 1] == bound[:-1]
    return _COMPARE[operator](own, other)


_COMPARE: dict[str, Callable[[Release, Release], bool]] = {
    "===": lambda own, other: own == other,
    "==": lambda own, other: own == other,
    "!=": lambda own, other: own != other,
    "<=": lambda own, other: own <= other,
    ">=": lambda own, other: own >= other,
    "<": lambda own, other: own < other,
    ">": lambda own, other: own > other,
}


def _release(word: str) -> Release | None:
    """The numbers in front: `2.1.0rc1` counts as 2.1.0, for a conflict is only claimed where it is sure."""
    match = _RELEASE.match(word)
    return tuple(int(part) for part in match.group(1).split(".")) if match else None


def _padded(release: Release, width: int) -> Release:
    return release + (0,) * (width - len(release))


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
