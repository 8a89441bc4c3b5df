"""Runs a Python snippet that nobody has looked at. `docs/sandbox.md` says what that protects from and what not.

`run` starts `child`, a separate process that first takes away from itself what a snippet has no need of, by three means
of the Linux kernel that need no privilege and hold for root as well: resource limits, Landlock (`landlock`), and a
filter of system calls (`seccomp`). `protection` tries out what they keep off on this machine.
"""
