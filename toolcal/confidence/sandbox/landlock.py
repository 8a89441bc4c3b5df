"""Landlock: a process gives up reading and writing files, but for the ones named.

Source of numbers and structures: Linux, include/uapi/linux/landlock.h; the system calls have the same numbers on x86_64
and aarch64. Needs Linux 5.13 or later, with Landlock switched on; what only newer kernels refuse is asked of those.
"""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable, Mapping

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_PATH_BENEATH = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR, _REMOVE_DIR, _REMOVE_FILE = (1 << bit for bit in range(6))
_MAKE_REG = 1 << 8
_TRUNCATE = 1 << 14

READ = _READ_FILE | _READ_DIR
"""Read files, list folders."""
OWN = READ | _WRITE_FILE | _TRUNCATE | _MAKE_REG | _REMOVE_FILE
"""Besides, make, change and remove plain files. No folders, links or devices: so the folder stays flat."""

_ON_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def version() -> int:
    """Landlock's version in the running kernel; 0 where there is none, or where it may not be used."""
    if os.uname().sysname != "Linux" or os.uname().machine not in ("x86_64", "aarch64"):
        return 0
    found: int = ctypes.CDLL(None).syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION))
    return max(0, found)


def restrict(allowed: Mapping[int, Iterable[str]]) -> None:
    """Give up all files but these, TCP, and signals to processes outside. For this process, and for good.

    What is open stays open. Needs `no_new_privs` (see `seccomp.no_new_privileges`).

    Args:
        allowed: `READ` or `OWN` -> the files and folders (with all below them); what does not exist is passed over.

    Raises:
        OSError: the kernel refused.
    """
    found = version()
    handled = (1 << (13 + (found >= 2) + (found >= 3))) - 1 | ((1 << 15) if found >= 5 else 0)
    ruleset = _Ruleset(handled, 0b11 if found >= 4 else 0, 0b11 if found >= 6 else 0)
    size = 8 * (1 + (found >= 4) + (found >= 6))
    rules = _call(_CREATE_RULESET, ctypes.byref(ruleset), ctypes.c_size_t(size), ctypes.c_uint32(0))
    try:
        for rights, paths in allowed.items():
            for path in paths:
                _allow(rules, rights & handled, path)
        _call(_RESTRICT_SELF, rules, ctypes.c_uint32(0))
    finally:
        os.close(rules)


def _allow(rules: int, rights: int, path: str) -> None:
    try:
        folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(folder).st_mode):
            rights &= _ON_FILES
        _call(_ADD_RULE, rules, _PATH_BENEATH, ctypes.byref(_PathBeneath(rights, folder)), ctypes.c_uint32(0))
    finally:
        os.close(folder)


def _call(number: int, *arguments: object) -> int:
    result: int = ctypes.CDLL(None, use_errno=True).syscall(number, *arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"Landlock: {os.strerror(ctypes.get_errno())}")
    return result
