"""Where a stage's log goes, and what its user is told when it fails."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from types import TracebackType

_log = logging.getLogger(__name__)


def to_file(path: str | Path) -> None:
    """Send log records to a file, one line each with its time; an error that ends the process goes there too.

    The terminal then gets the error in one line, with the log's name: the traceback is for developers.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(
        filename=path, filemode="w", level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", force=True
    )
    for chatty in ("httpx", "LiteLLM", "matplotlib", "fontTools"):
        logging.getLogger(chatty).setLevel(logging.WARNING)

    def tell(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not isinstance(error, Exception):
            sys.__excepthook__(kind, error, trace)
            return
        _log.error("the stage failed", exc_info=(kind, error, trace))
        words = str(error) if isinstance(error, ValueError | RuntimeError | OSError) else f"{kind.__name__}: {error}"
        print(f"toolcal: {words} (log: {path})", file=sys.stderr)

    sys.excepthook = tell


def warn(words: str) -> None:
    """Tell the user in one line on the terminal, and keep it in the log."""
    _log.warning(words)
    print(f"toolcal: {words}", file=sys.stderr)
