"""The filter itself, read by a small interpreter of its own, also for the architecture that is not this one."""

from __future__ import annotations

import csv
import errno
import fcntl
import os
import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from toolcal.confidence.sandbox import seccomp

ALLOW, NOT_PERMITTED, NO_SUCH_CALL, KILL = 0x7FFF0000, 0x50000 | errno.EPERM, 0x50000 | errno.ENOSYS, 0x80000000
PROCESS = 4242
ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
HEADERS = {
    "x86_64": "/usr/include/x86_64-linux-gnu/asm/unistd_64.h",
    "aarch64": "/usr/include/asm-generic/unistd.h",
}


def numbers(machine):
    with (ROOT / "toolcal/confidence/sandbox/syscalls.csv").open() as file:
        return {row["name"]: int(row[machine]) for row in csv.DictReader(file) if row[machine]}


def verdict(machine, number, *arguments, architecture=None):
    """What the filter says to a call; arguments count from 0, those not given are 0."""
    memory = {0: number, 4: architecture or ARCHITECTURES[machine]}
    memory |= {16 + 8 * i: value & 0xFFFFFFFF for i, value in enumerate([*arguments, *[0] * 6][:6])}
    instructions, at, value = seccomp.program(machine, PROCESS), 0, 0
    while True:
        operation, true, false, operand = instructions[at]
        at += 1
        if operation == 0x06:
            return operand
        if operation == 0x20:
            value = memory[operand]
        elif operation == 0x54:
            value &= operand
        else:
            at += true if {0x15: value == operand, 0x35: value >= operand}[operation] else false


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_some_arguments_of_some_calls(machine):
    call = numbers(machine)
    o = os
    for name, arguments, allowed in [
        ("openat", (0, 0, o.O_RDONLY), True),
        ("openat", (0, 0, o.O_WRONLY | o.O_CREAT | o.O_TRUNC), True),
        ("openat", (0, 0, o.O_RDWR | o.O_TRUNC), True),
        ("openat", (0, 0, o.O_RDONLY | o.O_TRUNC), False),
        ("openat", (0, 0, 3 | o.O_TRUNC), False),
        ("clone", (0x3D0F00,), True),  # a thread, as glibc makes it
        ("clone", (17,), False),  # a process
        ("kill", (PROCESS, 9), True),
        ("kill", (1, 9), False),
        ("kill", (-1, 9), False),
        ("kill", (0, 9), False),
        ("tgkill", (PROCESS, 7, 9), True),
        ("tgkill", (7, 7, 9), False),
        ("prlimit64", (0,), True),
        ("prlimit64", (1,), False),
        ("prctl", (15,), True),
        ("prctl", (1,), False),  # PR_SET_PDEATHSIG: it would outlive its parent
        ("fcntl", (0, fcntl.F_GETFL), True),
        ("fcntl", (0, fcntl.F_SETOWN), False),
        ("fcntl", (0, 10), False),  # F_SETSIG
        ("ioctl", (0, 0x5401), True),
        ("ioctl", (0, 0x5412), False),  # TIOCSTI: types into a terminal
        ("mmap", (), True),
    ]:
        assert verdict(machine, call[name], *arguments) == (ALLOW if allowed else NOT_PERMITTED), (name, arguments)
    assert verdict(machine, call["clone3"]) == NO_SUCH_CALL
    assert verdict(machine, 425) == NOT_PERMITTED  # io_uring_setup
    assert verdict(machine, 5000) == NO_SUCH_CALL
    assert verdict(machine, 0x40000000 + call["openat"]) == NOT_PERMITTED
    assert verdict(machine, call["openat"], architecture=0x40000003) == KILL  # 32 bits


@pytest.mark.parametrize("machine", ARCHITECTURES)
def test_numbers_are_those_of_linux(machine):
    header = Path(HEADERS[machine])
    if not header.exists():
        pytest.skip("no Linux headers here")
    found = re.findall(r"#define (?:__NR_|__NR3264_)(\w+)\s+(\d+)", header.read_text())
    linux = {name: int(number) for name, number in reversed(found)}
    linux["newfstatat"] = linux.get("newfstatat", linux.get("fstatat"))
    listed = numbers(machine)
    known = {name: number for name, number in listed.items() if name in linux}
    assert len(known) > 110
    assert known == {name: linux[name] for name in known}
    assert {name for name in listed if name not in linux} <= {"futex_wake", "futex_wait", "futex_requeue"}  # since 6.7


def test_nothing_that_starts_talks_or_rules_is_on_the_list():
    refused = "socket connect bind execve execveat fork vfork ptrace mount unshare setns chmod fchmod chown utimensat"
    refused += " truncate link symlink mknod mkdir process_vm_readv pidfd_open io_uring_setup bpf memfd_create shmget"
    for machine in ARCHITECTURES:
        assert not set(refused.split()) & set(numbers(machine))
