"""Where a stage's log goes, and what its user is told when it fails."""

from __future__ import annotations

import errno
import logging
import sys
from pathlib import Path
from types import TracebackType

_log = logging.getLogger(__name__)
_DISK = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the results folder cannot be written",
    errno.EACCES: "the results folder cannot be written",
}


def to_file(path: str | Path) -> None:
    """Send log records to a file, one line each with its time; an error that ends the process goes there too.

    The terminal then gets the error in one line, with the log's name: the traceback is for developers.
    """
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    logging.basicConfig(
        filename=path, filemode="w", level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s", force=True
    )
    for chatty in ("httpx", "matplotlib", "fontTools"):
        logging.getLogger(chatty).setLevel(logging.WARNING)

    def tell(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if isinstance(error, KeyboardInterrupt):
            _tell("stopped; all answers so far are kept, the same command goes on")
            return
        if not isinstance(error, Exception):
            sys.__excepthook__(kind, error, trace)
            return
        _log.error("the stage failed", exc_info=(kind, error, trace))
        _tell(f"{_words(error)} (log: {path})")

    logging.captureWarnings(True)
    logging.raiseExceptions = False  # a log that cannot be written must not fill the terminal
    sys.excepthook = tell


def warn(words: str) -> None:
    """Tell the user in one line on the terminal, and keep it in the log."""
    _log.warning(words)
    _tell(words)


def _words(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno in _DISK:
        where = f" at {error.filename}" if error.filename else ""
        return f"{_DISK[error.errno]}{where} ({error.strerror or error}); mend that and run again, all so far is kept"
    return str(error) if isinstance(error, ValueError | RuntimeError | OSError) else f"{type(error).__name__}: {error}"


def _tell(words: str) -> None:
    """One line on the terminal, without what could control it."""
    print("toolcal:", "".join(c if c.isprintable() else " " for c in words), file=sys.stderr)
