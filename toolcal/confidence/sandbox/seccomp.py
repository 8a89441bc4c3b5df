"""A filter of system calls: what is not on the list is refused by the kernel, whoever asks.

The list (`syscalls.csv`, numbers from Linux's unistd.h) holds what Python, numpy and pandas use on their own account:
files, memory, threads, time. Not on it: starting a process or program, sockets, signals to others, tracing, mounting,
changes of owner, rights and limits. Some calls are allowed with some arguments only (`_rules`).

Sources: Linux, Documentation/userspace-api/seccomp_filter.rst, include/uapi/linux/ (seccomp, filter, audit, prctl).h.
"""

from __future__ import annotations

import csv
import ctypes
import errno
import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_ALLOW, _KILL, _ERRNO = 0x7FFF0000, 0x80000000, 0x00050000
_LOAD, _EQUAL, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data

_X32 = 0x40000000
"""Numbers from here on are those of another calling convention."""
_NEWEST = 456
"""The newest call known here. Later ones do not exist for the snippet, so that its C library does without them."""

_SET_NO_NEW_PRIVS, _GET_SECCOMP, _SET_SECCOMP, _MODE_FILTER = 38, 21, 22, 2

_CLONE_THREAD = 0x10000
_TRUNCATES = os.O_TRUNC | os.O_ACCMODE
_PRCTL_NAMES = (15, 16)  # PR_SET_NAME, PR_GET_NAME
_IOCTLS = (0x5401, 0x541B, 0x5450, 0x5451)  # TCGETS (is it a terminal?), FIONREAD, FIONCLEX, FIOCLEX
_FCNTLS = (0, 1, 2, 3, 4, 5, 6, 7, 1030)  # duplicate, flags, locks; no F_SETOWN, which sends signals to others

Instruction = tuple[int, int, int, int]
"""Operation, jump if true, jump if false, operand."""


@dataclass(frozen=True)
class _Rule:
    """One call, allowed where `argument & mask` is (or is not) one of the values; arguments count from 0."""

    name: str
    argument: int
    values: tuple[int, ...]
    mask: int = 0xFFFFFFFF
    allow: bool = True


def _rules(process: int) -> list[_Rule]:
    return [
        # Not opened for writing and yet cut to nothing: Landlock lets that pass before its version 3.
        _Rule("open", 1, (os.O_TRUNC, _TRUNCATES), _TRUNCATES, allow=False),
        _Rule("openat", 2, (os.O_TRUNC, _TRUNCATES), _TRUNCATES, allow=False),
        _Rule("clone", 0, (_CLONE_THREAD,), _CLONE_THREAD),
        _Rule("kill", 0, (process,)),
        _Rule("tgkill", 0, (process,)),
        _Rule("prlimit64", 0, (0,)),
        _Rule("prctl", 0, _PRCTL_NAMES),
        _Rule("ioctl", 1, _IOCTLS),
        _Rule("fcntl", 1, _FCNTLS),
    ]


def available() -> bool:
    """Whether the running kernel filters system calls, and the numbers of this architecture are known."""
    uname = os.uname()
    if uname.sysname != "Linux" or uname.machine not in _ARCHITECTURES:
        return False
    return int(ctypes.CDLL(None).prctl(_GET_SECCOMP, 0, 0, 0, 0)) >= 0


def no_new_privileges() -> None:
    """Whatever this process starts gains no rights; a condition of both the filter and Landlock.

    Raises:
        OSError: the kernel refused.
    """
    _prctl(_SET_NO_NEW_PRIVS, 1, 0)


def restrict(instructions: Sequence[Instruction]) -> None:
    """Filter the system calls of this process from now on, for good.

    Args:
        instructions: from `program`.

    Raises:
        OSError: the kernel refused.
    """
    code = b"".join(struct.pack("HBBI", *instruction) for instruction in instructions)
    body = ctypes.create_string_buffer(code, len(code))
    packed = struct.pack("HxxxxxxP", len(instructions), ctypes.addressof(body))
    header = ctypes.create_string_buffer(packed, len(packed))
    _prctl(_SET_SECCOMP, _MODE_FILTER, ctypes.addressof(header))


def program(machine: str, process: int) -> list[Instruction]:
    """The filter, in classic BPF.

    Args:
        machine: `x86_64` or `aarch64`.
        process: id of the process that it is for.
    """
    with (Path(__file__).parent / "syscalls.csv").open(newline="") as file:
        numbers = {row["name"]: int(row[machine]) for row in csv.DictReader(file) if row[machine]}
    rules = {rule.name: rule for rule in _rules(process)}
    found: list[Instruction] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, _ARCHITECTURES[machine]),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _ERRNO | errno.EPERM),
        (_AT_LEAST, 0, 1, _NEWEST + 1),
        (_RETURN, 0, 0, _ERRNO | errno.ENOSYS),
    ]
    for name, number in numbers.items():
        if name == "clone3":  # its flags are out of a filter's sight; the C library falls back on clone
            decision: list[Instruction] = [(_RETURN, 0, 0, _ERRNO | errno.ENOSYS)]
        elif name in rules:
            decision = list(_decision(rules[name]))
        else:
            decision = [(_RETURN, 0, 0, _ALLOW)]
        found += [(_EQUAL, 0, len(decision), number), *decision]
    return [*found, (_RETURN, 0, 0, _ERRNO | errno.EPERM)]


def _decision(rule: _Rule) -> Iterator[Instruction]:
    verdicts = (_ALLOW, _ERRNO | errno.EPERM) if rule.allow else (_ERRNO | errno.EPERM, _ALLOW)
    yield _LOAD, 0, 0, _ARGUMENTS + 8 * rule.argument  # the lower half; the kernel reads no more of these arguments
    yield _AND, 0, 0, rule.mask
    for value in rule.values:
        yield _EQUAL, 0, 1, value
        yield _RETURN, 0, 0, verdicts[0]
    yield _RETURN, 0, 0, verdicts[1]


def _prctl(option: int, first: int, second: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, *(ctypes.c_ulong(value) for value in (first, second, 0, 0))) != 0:
        raise OSError(ctypes.get_errno(), f"prctl {option}: {os.strerror(ctypes.get_errno())}")
