"""Fleets on Slurm: two simulated nodes of this machine, one of them killed in the middle; with the fake
CUDA driver, and without a GPU. What is merged in the end is the unsharded sweep but for times and
identifiers.

Needs Debian's slurm-wlm, and root, as which its daemons run here: slurm_fleet_test.py FATUNE FAKE_CUDA
FAKE_WORKER
"""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from wheel_folder import skip

FATUNE, FAKE_CUDA, FAKE_WORKER = sys.argv[1:4]
FAMILY = os.path.join(os.path.dirname(__file__), "..", "families", "faulty")
# By their hashes, one shard has none of these problems, and each other one has some.
SWEEP = ["--kernel-dir", os.path.abspath(FAMILY), "--seq", "192,256,320,384,448,512,640,704,960",
         "--batch", "1", "--heads", "1"]
# What each is told besides, and the program that a shard at work runs on its node.
FLEETS = {"measured": ([], FAKE_WORKER),
          "estimated": (["--device", "none", "--arch", "sm_90a", "--no-emulate", "--no-cache"], FATUNE)}
SHARDS = 8
IDLE_SHARD = 3
TIMES = {"command_line", "started_at", "wall_s", "gpu_busy_percent", "elapsed_s", "compile_ms",
         "from_cache"}
MOST_S = 180

PROGRAMS = ["slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "sinfo"]
MISSING = [name for name in PROGRAMS if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin")]
if MISSING or os.geteuid() != 0:
    skip(f"no {', '.join(MISSING) or 'root'}: see scripts/setup --slurm")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Cluster:
    """Slurm's daemons, with their files in a folder."""

    NODES = ("node1", "node2")

    def __init__(self, folder):
        self.conf = os.path.join(folder, "slurm.conf")
        self.environment = {"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin", "HOME": folder,
                            "TMPDIR": folder, "SLURM_CONF": self.conf, "FATUNE_CONFIG_FILE": "none",
                            "XDG_CACHE_HOME": os.path.join(folder, "cache"),
                            "FATUNE_LIBCUDA": FAKE_CUDA, "FATUNE_WORKER": FAKE_WORKER,
                            "FATUNE_FAKE_WORKER": json.dumps(
                                {"us": {"turns_1": 100, "turns_2": 101, "turns_4": 200},
                                 "slow_ms": 3})}
        os.mkdir(os.path.join(folder, "state"))
        with open(self.conf, "w", encoding="utf-8") as conf:
            conf.write(self.settings(folder))
        self.daemons = {}
        self.start("slurmctld", ["slurmctld", "-D"])
        for node in self.NODES:
            self.start_node(node)
        self.wait_for_nodes()

    @staticmethod
    def settings(folder):
        ports = ",".join(str(free_port()) for _ in Cluster.NODES)
        return f"""ClusterName=fatune_test
SlurmctldHost={socket.gethostname().split(".")[0]}(127.0.0.1)
SlurmctldPort={free_port()}
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
SlurmdParameters=config_overrides
ReturnToService=2
JobRequeue=0
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
NodeName=node[1-2] NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports} CPUs=1
PartitionName=main Nodes=ALL Default=YES State=UP
"""

    def start(self, name, command, more=None):
        self.daemons[name] = subprocess.Popen(command, env={**self.environment, **(more or {})},
                                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start_node(self, node):
        self.start(node, ["slurmd", "-D", "-N", node], {"FLEET_NODE": node})

    def run(self, *command):
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True,
                              timeout=MOST_S, check=False)
        if done.returncode != 0:
            raise AssertionError(f"{command} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def fatune(self, *arguments):
        return self.run(FATUNE, *arguments)

    @staticmethod
    def wait(holds, otherwise, every_s=0.1):
        deadline = time.monotonic() + MOST_S
        while not holds():
            if time.monotonic() > deadline:
                raise AssertionError(otherwise)
            time.sleep(every_s)

    def wait_for_nodes(self):
        """A node that was down is in service again once its daemon has registered (ReturnToService=2)."""
        self.wait(lambda: self.run("sinfo", "-h", "-o", "%D %T") == "2 idle\n", "the nodes are not idle")

    def wait_for_jobs(self):
        self.wait(lambda: not self.run("squeue", "-h"), "jobs are not done")

    def processes(self, *variables):
        """Those of this cluster that have one of these variables."""
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    environ = file.read().decode(errors="replace").split("\0")
            except OSError:
                continue
            if f"SLURM_CONF={self.conf}" in environ and any(v in environ for v in variables):
                yield int(name)

    def running(self, program, node):
        """The processes of a job there that run this program."""
        for pid in self.processes(f"SLURMD_NODENAME={node}"):
            try:
                if os.readlink(f"/proc/{pid}/exe") == os.path.realpath(program):
                    yield pid
            except OSError:
                pass

    def kill_node(self, node):
        """As if its power was cut: its daemon, and all that runs on it."""
        for pid in self.processes(f"FLEET_NODE={node}", f"SLURMD_NODENAME={node}"):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.daemons.pop(node).wait()
        self.run("scontrol", "update", f"nodename={node}", "state=down", "reason=killed")

    def stop(self):
        for node in self.NODES:
            for pid in self.processes(f"FLEET_NODE={node}", f"SLURMD_NODENAME={node}"):
                os.kill(pid, signal.SIGKILL)
        for daemon in self.daemons.values():
            daemon.kill()
            daemon.wait()


def timeless(value):
    if isinstance(value, dict):
        return {name: timeless(part) for name, part in value.items() if name not in TIMES}
    return [timeless(part) for part in value] if isinstance(value, list) else value


def expect(holds, what):
    if not holds:
        raise AssertionError(what)


def missing(cluster, fleet):
    return json.loads(cluster.fatune("cluster", "missing", fleet, "--format", "json"))["missing"]


def is_halted(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0] == "T"


def shard_number(pid):
    with open(f"/proc/{pid}/environ", encoding="utf-8", errors="replace") as file:
        variables = dict(word.partition("=")[::2] for word in file.read().split("\0"))
    return int(variables["SLURM_ARRAY_TASK_ID"])


def record_of(fleet, shard):
    return os.path.join(fleet, "shards", f"{shard}-of-{SHARDS}.json")


def halt_shard(cluster, fleet, program):
    """Whether a shard is at work on node1. It stands still then, so that it cannot end before its node."""
    for pid in cluster.running(FATUNE, "node1"):
        try:
            shard = shard_number(pid)
            if shard == IDLE_SHARD:
                continue
            os.kill(pid, signal.SIGSTOP)
            cluster.wait(lambda pid=pid: is_halted(pid), "a shard does not stand still", every_s=0.001)
            if not os.path.exists(record_of(fleet, shard)) and any(cluster.running(program, "node1")):
                return True
            os.kill(pid, signal.SIGCONT)
        except (OSError, KeyError):
            pass  # it has ended
    return False


def check_idle_shard(fleet):
    """Otherwise the kill could hit a shard that has nothing to do, or none that has."""
    for shard in range(1, SHARDS + 1):
        with open(record_of(fleet, shard), encoding="utf-8") as file:
            problems = json.load(file)["problems"]
        expect((problems == 0) == (shard == IDLE_SHARD), f"shard {shard} has {problems} problems")


def kill_in_the_middle(cluster, fleet, program):
    """Once a shard has ended, and another one runs on the node."""
    def in_the_middle():
        ended = any(os.path.exists(record_of(fleet, shard)) for shard in range(1, SHARDS + 1))
        return ended and halt_shard(cluster, fleet, program)
    cluster.wait(in_the_middle, "no shard was on node1", every_s=0.02)
    cluster.kill_node("node1")


def check_fleet(cluster, folder, kind):
    more, program = FLEETS[kind]
    sweep = SWEEP + more
    fleet = os.path.join(folder, f"a fleet's folder, {kind}")
    cluster.fatune("sweep", *sweep, "--no-db", "--quiet")  # what is compiled first is measured first
    whole = cluster.fatune("sweep", *sweep, "--db", os.path.join(folder, f"whole {kind}.db"),
                           "--format", "json")
    cluster.fatune("cluster", "sbatch", fleet, "--shards", str(SHARDS), "--submit", "--", *sweep)
    kill_in_the_middle(cluster, fleet, program)
    cluster.wait_for_jobs()
    lacking = missing(cluster, fleet)
    expect(lacking, "the kill has hit no shard")
    print(f"{kind}, killed:", lacking)
    part = json.loads(cluster.fatune("show", "last", "--db", os.path.join(fleet, "merged.db"),
                                     "--format", "json"))
    expect(not part["complete"], "what is merged claims to be complete")
    cluster.start_node("node1")
    cluster.wait_for_nodes()
    cluster.fatune("cluster", "retry", fleet)
    cluster.wait_for_jobs()
    expect(missing(cluster, fleet) == [], "retry has not repeated all")
    check_idle_shard(fleet)
    merged = cluster.fatune("show", "last", "--db", os.path.join(fleet, "merged.db"), "--format", "json")
    expect(timeless(json.loads(merged)) == timeless(json.loads(whole)), "it is not the unsharded sweep")
    expect(json.loads(merged)["measured"] == (kind == "measured"), f"it is not {kind}")
    expect(os.path.getsize(os.path.join(fleet, "report.html")) > 1000, "there is no report")


def main():
    with tempfile.TemporaryDirectory(prefix="fatune-slurm-") as folder:
        cluster = Cluster(folder)
        try:
            for kind in FLEETS:
                check_fleet(cluster, folder, kind)
        finally:
            cluster.stop()
    print("the merged fleets are the unsharded sweeps")


if __name__ == "__main__":
    main()
