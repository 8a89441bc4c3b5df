"""A real Slurm of one node on the loopback, for as long as a test needs it.

    with cluster(tmp_path) as slurm:
        slurm.jobs()

Its daemons are children of this process, and its state lies in the folder. Slurm looks for its configuration at
/etc/slurm/slurm.conf wherever a job step is begun without SLURM_CONF, so a link stands there meanwhile; where a file of
that name exists, the machine has a Slurm already, which is left alone.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tests.timing import until

SITE = Path("/etc/slurm/slurm.conf")
DAEMONS = ("munged", "slurmctld", "slurmd")
CONFIGURATION = """
ClusterName=test
SlurmctldHost={node}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
SlurmctldPort={controller}
SlurmdPort={daemon}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=1,sched_min_interval=100000
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
AccountingStoreFlags=job_comment
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
SlurmdParameters=config_overrides
ReturnToService=2
MinJobAge=3600
KillWait=5
NodeName={node} NodeAddr=127.0.0.1 CPUs={processors} RealMemory=16000 State=UNKNOWN
PartitionName=only Nodes={node} Default=YES MaxTime=INFINITE DefaultTime=01:00:00 State=UP
"""


class Job(NamedTuple):
    """A job as Slurm knows it; `comment` is the rule and its wildcards."""

    number: str
    state: str
    comment: str


@dataclass(frozen=True)
class Cluster:
    """A running Slurm; `environment` is what its clients need."""

    environment: dict[str, str]

    def ask(self, *command: str) -> str:
        """What one of Slurm's commands prints."""
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, check=True).stdout

    def jobs(self) -> list[Job]:
        """All jobs so far, those that ended among them."""
        lines = self.ask("squeue", "--states=all", "--noheader", "--sort=i", "--format=%i|%T|%k").splitlines()
        return [Job(*line.split("|")) for line in lines]


def missing() -> str:
    """Why there can be no Slurm here, empty where there can."""
    if absent := [name for name in (*DAEMONS, "sbatch", "squeue", "scancel") if shutil.which(name) is None]:
        return f"no {', '.join(absent)}: install slurm-wlm and munge"
    if os.geteuid():
        return "Slurm's daemons need root"
    return f"{SITE} is there: this machine has a Slurm of its own" if SITE.exists() else ""


@contextmanager
def cluster(folder: Path, processors: int = 2) -> Iterator[Cluster]:
    """Bring a Slurm up in a folder, and take it down again."""
    key, node = folder / "munge.key", socket.gethostname().split(".")[0]
    key.write_bytes(secrets.token_bytes(1024))
    key.chmod(0o400)
    controller, daemon = _free_ports()
    configuration = folder / "slurm.conf"
    configuration.write_text(
        CONFIGURATION.format(folder=folder, node=node, controller=controller, daemon=daemon, processors=processors)
    )
    for name in ("state", "spool"):
        (folder / name).mkdir()
    slurm = Cluster({**os.environ, "SLURM_CONF": str(configuration)})
    SITE.parent.mkdir(exist_ok=True)
    SITE.symlink_to(configuration)
    with ExitStack() as stack:
        stack.callback(SITE.unlink)
        files = {name: f"{folder}/{name}" for name in ("munge.socket", "munge.seed", "munged.pid", "munged.log")}
        munge = (
            *("munged", "--foreground", "--force", f"--key-file={key}", f"--socket={files['munge.socket']}"),
            *(f"--seed-file={files['munge.seed']}", f"--pid-file={files['munged.pid']}"),
            f"--log-file={files['munged.log']}",
        )
        stack.enter_context(_running(slurm, folder, *munge))
        until(lambda: (folder / "munge.socket").exists())
        stack.enter_context(_running(slurm, folder, "slurmctld", "-D"))
        stack.enter_context(_running(slurm, folder, "slurmd", "-D"))
        until(lambda: _idle(slurm))
        yield slurm


@contextmanager
def _running(slurm: Cluster, folder: Path, *command: str) -> Iterator[None]:
    with (folder / f"{command[0]}.out").open("w") as out:
        process = subprocess.Popen(command, env=slurm.environment, stdout=out, stderr=subprocess.STDOUT)
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _idle(slurm: Cluster) -> bool:
    try:
        return slurm.ask("sinfo", "--noheader", "--format=%t").strip() == "idle"
    except subprocess.CalledProcessError:  # the controller is not up yet
        return False


def _free_ports() -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(2)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
