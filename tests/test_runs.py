"""One run at a time on a results folder, and jobs that end with their run: with real processes."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from filelock import FileLock

from tests.end_to_end.conftest import copy_project, policies
from tests.timing import PATIENCE, best_of, until
from toolcal import heartbeat, runs, unfinished
from toolcal.models.sources import api

# A signal that comes just before a read that blocks would be heeded after it only; so none blocks for long.
RUN = """
import select, sys
from toolcal import runs

try:
    runs.begin(sys.argv[1])
except runs.RunError as error:
    sys.exit(str(error))
print("began", flush=True)
while not select.select([sys.stdin], [], [], 0.05)[0]:
    pass
"""
# A run that starts a job, as Snakemake does, and waits for it.
RUN_WITH_JOB = """
import subprocess, sys
from toolcal import runs

runs.begin(sys.argv[1])
job = subprocess.Popen([sys.executable, "-c", sys.argv[2], *sys.argv[3:]])
print(job.pid, flush=True)
job.wait()
"""
# A job, which writes what becomes of it.
JOB = """
import asyncio, sys, time
from pathlib import Path
from toolcal import runs

async def work():
    print("at work", flush=True)
    try:
        await asyncio.sleep(float(sys.argv[2]))
        return "done"
    finally:
        print("put away", flush=True)

try:
    said = asyncio.run(runs.while_it_lasts(sys.argv[1], work(), every=0.05))
except runs.RunError as error:
    said = str(error)
print(said, flush=True)
"""
OVER = "the run that started this job is over; what was answered is kept in the journal"
UNASKED = "the run that started this job is over; nothing was asked"


@pytest.fixture(autouse=True)
def outside_of_any_run(monkeypatch):
    monkeypatch.setenv("TOOLCAL_RUN", "set here so that it is put back")
    monkeypatch.delenv("TOOLCAL_RUN")
    held = list(runs._held)
    yield
    for lock in runs._held:
        if lock not in held:
            lock.release()


def started(program, *arguments, cwd=None):
    # Started in the background of a shell, this process ignores SIGINT, and so would the child.
    heeding = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    return subprocess.Popen(
        [sys.executable, "-c", f"{heeding}\n{program}", *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(Path(runs.__file__).parents[1])},
    )


@contextmanager
def run_on(folder, cwd=None):
    """A run of another process, which ends with the block if not before."""
    process = started(RUN, folder, cwd=cwd)
    try:
        assert process.stdout.readline() == "began\n", process.stderr.read()
        yield process
    finally:
        process.kill()
        process.communicate()


def refusal(folder, process=None):
    """What a process is told that cannot begin a run there."""
    process = process or started(RUN, folder)
    _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1, said
    assert said.count("\n") == 1
    return said.strip()


@contextmanager
def run_with_job(folder, seconds):
    """A run of another process, and its job, which works so long; what the job prints is the run's output."""
    process = started(RUN_WITH_JOB, folder, JOB, folder, seconds)
    job = int(process.stdout.readline())
    try:
        yield process, job
    finally:
        process.kill()
        process.communicate(timeout=PATIENCE)


def job_of(number, folder, seconds=20):
    """A job with this run's number, started as another process."""
    os.environ["TOOLCAL_RUN"] = number
    try:
        return started(JOB, folder, seconds)
    finally:
        del os.environ["TOOLCAL_RUN"]


def number_in(folder):
    return (folder / ".run").read_text()


# --- one run at a time


def test_a_second_run_on_a_results_folder_is_refused_in_one_line_by_whatever_path(tmp_path):
    folder, elsewhere = tmp_path / "here" / "results", tmp_path / "elsewhere"
    folder.parent.mkdir()
    elsewhere.mkdir()
    (tmp_path / "link").symlink_to(folder.parent, target_is_directory=True)
    paths = [
        (folder, None),
        ("results", folder.parent),
        ("../here/results", elsewhere),
        (tmp_path / "link/results", None),
    ]
    with run_on(folder) as first:
        seconds = [started(RUN, given, cwd=cwd) for given, cwd in paths]
        with run_on(tmp_path / "another"):  # which is free
            pass
        for (given, _), second in zip(paths, seconds, strict=True):
            assert refusal(given, second) == (
                f"{given}: another run uses this results folder (process {first.pid} on {os.uname().nodename}); "
                "wait for it, or stop it"
            )
    for given, cwd in paths:
        with run_on(given, cwd):
            pass


def test_snakemake_in_another_directory_is_refused_before_it_does_anything(tmp_path):
    project, folder = copy_project(tmp_path, in_one_process=True), tmp_path / "elsewhere"
    with run_on(folder) as first:
        said = project.snakemake(config=policies("oracle", limit=1) | {"results": str(folder)}, check=False)
        assert number_in(folder).split()[2] == str(first.pid)
    line = f"{folder}: another run uses this results folder (process {first.pid} on {os.uname().nodename})"
    assert sum(said_line.startswith(line) for said_line in said.splitlines()) == 1
    assert "Traceback" not in said
    assert {path.name for path in folder.iterdir()} == {".run", ".run.lock"}


def test_the_lock_goes_with_the_process_however_it_ends(tmp_path):
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
        with run_on(tmp_path) as run:
            run.send_signal(number)
            run.wait(timeout=PATIENCE)
            with run_on(tmp_path):
                pass


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_run_that_is_asked_to_stop_tells_its_jobs_before_anything_else(tmp_path, number):
    """Snakemake waits for its jobs; they must not go on meanwhile."""
    with run_on(tmp_path) as run:
        told = number_in(tmp_path)
        assert not runs._over(tmp_path, told)
        run.send_signal(number)
        run.wait(timeout=PATIENCE)
        assert number_in(tmp_path) == "stopped"
        assert runs._over(tmp_path, told)


def test_what_a_run_left_behind_stands_in_nobodys_way(tmp_path):
    for leftover in ("", "123-abc", "\x00\xff", "not a number of ours at all, but long"):
        (tmp_path / ".run").write_text(leftover, encoding="latin-1")
        (tmp_path / ".run.tmp").write_text(leftover, encoding="latin-1")
        (tmp_path / ".run.lock").touch()
        with run_on(tmp_path):
            assert number_in(tmp_path).split()[2].isdigit()


def test_a_folder_that_is_not_there_is_made_and_a_second_run_of_one_process_takes_over(tmp_path):
    folder = tmp_path / "not" / "there"
    runs.begin(folder)
    first = os.environ["TOOLCAL_RUN"]
    assert first == number_in(folder)
    runs.begin(folder)
    assert first != os.environ["TOOLCAL_RUN"] == number_in(folder)
    assert "another run uses this results folder" in refusal(folder)


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").touch()
    assert refusal(tmp_path / "file") == (
        f"{tmp_path / 'file'}: the results folder cannot be written (File exists); nothing was run"
    )
    assert "cannot be written (Not a directory)" in refusal(tmp_path / "file" / "results")


@contextmanager
def read_only(folder):
    """Make a folder read-only, for root too."""
    if os.geteuid():
        folder.chmod(0o555)
        yield
        folder.chmod(0o755)
        return
    mount = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "ro,size=64k", "none", folder], capture_output=True, text=True, check=False
    )
    if mount.returncode:
        pytest.skip(f"root needs a mount for a read-only folder: {mount.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def test_a_read_only_folder_is_told_in_one_line(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    with read_only(folder):
        for given in (folder, folder / "not" / "there"):
            said = refusal(given)
            assert said.startswith(f"{given}: the results folder cannot be written (")
            assert said.endswith("); nothing was run")


def test_a_full_disk_leaves_the_folder_free(tmp_path, monkeypatch):
    def full(self, target):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        with pytest.raises(runs.RunError, match=r"cannot be written \(No space left on device\); nothing was run"):
            runs.begin(tmp_path)
    assert "TOOLCAL_RUN" not in os.environ
    with run_on(tmp_path):
        pass


# --- jobs that do not outlive their run


def test_a_job_ends_soon_after_its_run_is_killed_and_puts_its_things_away(tmp_path):

    def seconds():
        with run_with_job(tmp_path, 60) as (run, _):
            assert run.stdout.readline() == "at work\n"
            run.kill()
            begin = time.monotonic()
            assert run.stdout.read() == f"put away\n{OVER}\n"  # until the job ends, too
            return time.monotonic() - begin

    assert best_of(seconds, 5) < 5


def test_a_job_ends_when_another_run_has_begun(tmp_path):
    with run_with_job(tmp_path, 60) as (run, _):
        assert run.stdout.readline() == "at work\n"
        run.kill()
        with run_on(tmp_path):
            assert run.stdout.read() == f"put away\n{OVER}\n"


def test_a_job_of_a_run_that_goes_on_does_its_work(tmp_path):
    with run_with_job(tmp_path, 1) as (run, _):
        assert run.stdout.read() == "at work\nput away\ndone\n"


def test_outside_of_a_run_a_job_just_works(tmp_path):
    job = started(JOB, tmp_path / "nowhere", 0.2)
    assert job.communicate(timeout=PATIENCE)[0] == "at work\nput away\ndone\n"
    assert not (tmp_path / "nowhere").exists()


def test_a_job_that_waited_in_a_queue_until_its_run_was_over_asks_nothing(tmp_path):
    with run_on(tmp_path) as run:
        number = number_in(tmp_path)
        run.kill()
        run.wait()
    assert job_of(number, tmp_path).communicate(timeout=PATIENCE)[0] == f"{UNASKED}\n"
    with run_on(tmp_path):
        assert job_of(number, tmp_path).communicate(timeout=PATIENCE)[0] == f"{UNASKED}\n"


def test_an_error_of_the_work_and_its_cancelling_go_through(tmp_path, monkeypatch):
    runs.begin(tmp_path)
    closed = []

    async def fails():
        raise KeyError("x")

    async def waits():
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.1)  # a server takes a moment to stop
            closed.append(True)

    with pytest.raises(KeyError):
        asyncio.run(runs.while_it_lasts(tmp_path, fails()))

    async def cancelled():
        task = asyncio.create_task(runs.while_it_lasts(tmp_path, waits()))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return len(closed)  # put away before the job goes on

    assert asyncio.run(cancelled()) == 1


# --- a job whose run is alive is never ended


def outlasts(folder, number, *trouble):
    """Whether a job goes on for some looks, before which trouble comes up."""
    os.environ["TOOLCAL_RUN"] = number

    async def work():
        for make in trouble:
            make()
        await asyncio.sleep(0.3)
        return "done"

    try:
        return asyncio.run(runs.while_it_lasts(folder, work(), every=0.02)) == "done"
    except runs.RunError:
        return False


@pytest.mark.parametrize("error", [errno.EIO, errno.ESTALE, errno.EACCES, errno.ENOLCK, errno.EMFILE])
@pytest.mark.parametrize("what", ["note", "lock", "take"])
def test_a_folder_out_of_reach_says_nothing_about_the_run(error, what, tmp_path, monkeypatch):
    def hiccup(self, *_, **__):
        if what == "take" or self.name == {"note": ".run", "lock": ".run.lock"}[what]:
            raise OSError(error, os.strerror(error))
        return whole(self)

    with run_on(tmp_path):
        number = number_in(tmp_path)
        owner, name = {"note": (Path, "read_text"), "lock": (Path, "stat"), "take": (FileLock, "acquire")}[what]
        whole = getattr(owner, name)
        monkeypatch.setattr(owner, name, hiccup)
        assert outlasts(tmp_path, number)


def test_a_job_goes_on_when_lock_note_or_folder_are_removed_under_it(tmp_path):
    for name in (".run.lock", ".run", "all"):
        folder = tmp_path / name
        with run_on(folder):

            def remove(folder=folder, name=name):
                if name == "all":
                    folder.rename(tmp_path / "moved")
                else:
                    (folder / name).unlink()

            assert outlasts(folder, number_in(folder), remove)
            assert name == "all" or not (folder / name).exists()  # a look makes no lock of its own
        assert not (name == "all" and folder.exists())


def test_a_free_lock_says_nothing_where_it_is_another_file_or_another_machine(tmp_path, monkeypatch):
    """As under Slurm, where a lock may not reach the job's machine, or be seen by another mount."""
    with run_on(tmp_path) as run:
        number = number_in(tmp_path)
        run.kill()
        run.wait()
    assert not outlasts(tmp_path, number)
    boot = tmp_path / "boot_id"
    boot.write_text("another machine\n")
    with monkeypatch.context() as patch:
        patch.setattr(runs, "_BOOT", boot)
        assert outlasts(tmp_path, number)
        with run_on(tmp_path):  # but another run does
            assert not outlasts(tmp_path, number)
    (tmp_path / ".run").write_text(number)
    (tmp_path / "copy").write_bytes(b"")
    (tmp_path / "copy").replace(tmp_path / ".run.lock")
    assert outlasts(tmp_path, number)


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """As if this process, and what it calls a job, ran on another machine."""

    def leave():
        boot = tmp_path / "boot_id"
        boot.write_text("another machine\n")
        monkeypatch.setattr(runs, "_BOOT", boot)
        monkeypatch.setattr(runs.platform, "node", lambda: "another")

    return leave


def test_on_another_machine_a_run_is_over_when_its_note_was_not_touched_for_minutes(tmp_path, elsewhere):
    folder = tmp_path / "results"
    with run_on(folder) as run:
        number = number_in(folder)
        elsewhere()
        assert outlasts(folder, number)
        run.kill()
        run.wait()
        assert outlasts(folder, number)  # it may be out of reach for a moment
        silent = time.time() - heartbeat.SILENT - 5
        os.utime(folder / ".run", (silent, silent))
        assert not outlasts(folder, number)
        assert {path.name for path in folder.iterdir()} == {".run", ".run.lock"}


def test_a_run_touches_its_note_until_it_ends(tmp_path):
    note = tmp_path / ".run"
    ended = heartbeat.beat(note, every=0.01)
    try:
        assert not note.exists()
        note.touch()
        os.utime(note, (0, 0))
        until(lambda: heartbeat.age(note) < 60)
    finally:
        ended.set()
    with pytest.raises(FileNotFoundError):
        heartbeat.age(tmp_path / "none")


def test_locks_that_do_not_reach_another_machine_are_noticed_there(tmp_path, elsewhere):
    folder = tmp_path / "results"
    with run_on(folder) as run:
        assert runs.locks_reach(folder)  # outside of a run, none can tell
        os.environ["TOOLCAL_RUN"] = number_in(folder)
        elsewhere()
        assert runs.locks_reach(folder)
        run.kill()  # which frees the lock, as if it had not come here, while the note is still fresh
        run.wait()
        assert not runs.locks_reach(folder)
        with pytest.raises(runs.RunError, match=r"keeps locks to one machine.+ endpoints\.openai would not hold"):
            api("models.m", {"model": "openai/m"}, endpoints={"openai": {}}, limits={}, results=folder)


def test_a_job_whose_results_folder_is_not_that_of_its_run_is_told(tmp_path, elsewhere):
    folder, local = tmp_path / "results", tmp_path / "local"
    with run_on(folder):
        os.environ["TOOLCAL_RUN"] = number_in(folder)
        runs.arrive(folder)
        runs.arrive(local)  # here it is only out of reach
        elsewhere()
        runs.arrive(folder, patience=0.1)
        with pytest.raises(runs.RunError, match=r"local: is not shared: what .+ cannot be seen on another"):
            runs.arrive(local, patience=0.1)
    with run_on(folder), pytest.raises(runs.RunError, match="the run that started this job is over"):
        runs.arrive(folder, patience=0.1)


def test_a_run_that_is_stopped_for_a_while_keeps_its_jobs(tmp_path):
    with run_on(tmp_path) as run:
        run.send_signal(signal.SIGSTOP)
        assert outlasts(tmp_path, number_in(tmp_path))
        run.send_signal(signal.SIGCONT)


# --- races


def test_looks_of_many_orphans_never_make_a_new_run_fail(tmp_path):
    with run_on(tmp_path) as run:
        number = number_in(tmp_path)
        run.kill()
        run.wait()
    stop = threading.Event()
    seen = []

    def look():
        while not stop.is_set():
            seen.append(runs._over(tmp_path, number))
            time.sleep(0.001)

    lookers = [threading.Thread(target=look) for _ in range(4)]
    for thread in lookers:
        thread.start()
    try:
        for _ in range(5):
            (tmp_path / ".run").write_text(number)  # so that they go for the lock
            with run_on(tmp_path):
                pass
    finally:
        stop.set()
        for thread in lookers:
            thread.join()
    assert True in seen


def test_of_runs_that_begin_at_once_one_goes_on_and_its_jobs_with_it(tmp_path):
    processes = [started(RUN, tmp_path) for _ in range(6)]

    def going_on():
        return [process for process in processes if process.poll() is None]

    try:
        until(lambda: len(going_on()) <= 1)
        going = going_on()
        assert len(going) == 1
        assert going[0].stdout.readline() == "began\n"
        assert int(number_in(tmp_path).split()[2]) == going[0].pid
        assert outlasts(tmp_path, number_in(tmp_path))
        told = [process.stderr.read() for process in processes if process is not going[0]]
        assert all("another run uses this results folder" in words for words in told)
    finally:
        for process in processes:
            process.kill()
            process.communicate()


# --- how often a cell ended unfinished


def test_endings_are_counted_one_by_one(tmp_path):
    journal = tmp_path / "m" / "bfcl-base.baseline.jsonl"
    assert unfinished.count(journal) == 0
    for number in (1, 2, 3):
        unfinished.note(journal)
        assert unfinished.count(journal) == number
    assert unfinished.count(tmp_path / "m" / "bfcl-base.probe.jsonl") == 0


def test_a_count_that_was_cut_short_can_be_read_and_goes_on(tmp_path):
    journal = tmp_path / "bfcl-base.baseline.jsonl"
    file = tmp_path / "bfcl-base.baseline.unfinished"
    for left, counted in ((b"", 0), (b"2026-01-0", 0), (b"2026-01-01T00:00:00Z\n\xff", 1)):
        file.write_bytes(left)
        assert unfinished.count(journal) == counted
        unfinished.note(journal)
        assert unfinished.count(journal) == counted + 1
