"""Tests fleets on Slurm: two simulated nodes of this machine, one of which is killed in the middle, with the fake CUDA
driver and without a GPU. The merged result is the unsharded sweep, except for times and identifiers.

Needs Debian's slurm-wlm, and root, because its daemons run as root here: slurm_fleet_test.py FATUNE FAKE_CUDA
FAKE_WORKER

slurm_fleet_test.py FATUNE gpus: two shards on two GPUs of this machine, one for each node. Here everything that follows
from times may differ too. The merged result has the unsharded sweep's configurations and outcomes, and its winners or
configurations that are tied with them.
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
import typing

from wheel_folder import skip

FATUNE = sys.argv[1]
ON_GPUS = sys.argv[2:] == ["gpus"]
FAKE_CUDA, FAKE_WORKER = ("", "") if ON_GPUS else sys.argv[2:4]
FAMILY = os.path.join(os.path.dirname(__file__), "..", "families", "faulty")
# According to their hashes, one of eight shards has none of these problems, and each of the others has some.
SWEEP = ["--kernel-dir", os.path.abspath(FAMILY), "--seq", "192,256,320,384,448,512,640,704,960",
         "--batch", "1", "--heads", "1"]
GPU_SWEEP = ["--family", "flash_sm80", "--space", "tune", "--seq", "512,1024,2048,4096,8192,16384",
             "--dhead", "128", "--dtype", "fp16,bf16"]
IDLE_SHARD = 3
TIMES = {"command_line", "started_at", "wall_s", "gpu_busy_percent", "elapsed_s", "compile_ms",
         "from_cache"}
MOST_S = 180


class Fleet(typing.NamedTuple):
    """A sweep, its number of shards, and the program that a working shard runs on its node."""
    name: str
    sweep: list
    shards: int
    program: str

    @property
    def measured(self):
        return self.name != "estimated"


FLEETS = [Fleet("on GPUs", GPU_SWEEP, 2, FATUNE)] if ON_GPUS else [
    Fleet("measured", SWEEP, 8, FAKE_WORKER),
    Fleet("estimated", SWEEP + ["--device", "none", "--arch", "sm_90a", "--no-emulate", "--no-cache"], 8,
          FATUNE)]

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
        fake_gpu = {"FATUNE_LIBCUDA": FAKE_CUDA, "FATUNE_WORKER": FAKE_WORKER,
                    "FATUNE_FAKE_WORKER": json.dumps(
                        {"us": {"turns_1": 100, "turns_2": 101, "turns_4": 200}, "slow_ms": 3})}
        self.environment = {"PATH": os.environ["PATH"] + ":/usr/sbin:/sbin", "HOME": folder,
                            "TMPDIR": folder, "FATUNE_LOCK_DIR": folder, "SLURM_CONF": self.conf, "FATUNE_CONFIG_FILE": "none",
                            "XDG_CACHE_HOME": os.path.join(folder, "cache"),
                            **({} if ON_GPUS else fake_gpu)}
        os.mkdir(os.path.join(folder, "state"))
        with open(os.path.join(folder, "cgroup.conf"), "w", encoding="utf-8") as cgroup:
            cgroup.write("CgroupPlugin=cgroup/v1\n")  # needs neither systemd nor a mounted hierarchy
        if ON_GPUS:
            self.give_gpus(folder)
        with open(self.conf, "w", encoding="utf-8") as conf:
            conf.write(self.settings(folder))
        self.daemons = {}
        self.start("slurmctld", ["slurmctld", "-D"])
        for node in self.NODES:
            self.start_node(node)
        self.wait_for_nodes()

    def give_gpus(self, folder):
        """Gives one GPU to each node. Slurm counts a node's GPUs from 0, as if the node were a separate machine."""
        with open(os.path.join(folder, "gres.conf"), "w", encoding="utf-8") as gres, \
                open(os.path.join(folder, "prolog"), "w", encoding="utf-8") as prolog:
            prolog.write('#!/bin/sh\ncase "$SLURMD_NODENAME" in\n')
            for number, node in enumerate(self.NODES):
                gres.write(f"NodeName={node} Name=gpu File=/dev/nvidia{number}\n")
                prolog.write(f"{node}) echo export CUDA_VISIBLE_DEVICES={number};;\n")
            prolog.write("esac\n")
        os.chmod(prolog.name, 0o755)

    @staticmethod
    def settings(folder):
        ports = ",".join(str(free_port()) for _ in Cluster.NODES)
        gpu_types, gpus = (f"GresTypes=gpu\nTaskProlog={folder}/prolog\n", " Gres=gpu:1") if ON_GPUS else ("", "")
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
{gpu_types}NodeName=node[1-2] NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports} CPUs=1{gpus}
PartitionName=main Nodes=ALL Default=YES State=UP
"""

    def start(self, name, command, more=None):
        self.daemons[name] = subprocess.Popen(command, env={**self.environment, **(more or {})},
                                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start_node(self, node):
        self.start(node, ["slurmd", "-D", "-N", node], {"FLEET_NODE": node})

    def run(self, *command, codes=(0,)):
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True,
                              timeout=MOST_S, check=False)
        if done.returncode not in codes:
            raise AssertionError(f"{command} ended with {done.returncode}: {done.stderr}")
        return done.stdout

    def fatune(self, *arguments, codes=(0,)):
        return self.run(FATUNE, *arguments, codes=codes)

    @staticmethod
    def wait(holds, otherwise, every_s=0.1):
        deadline = time.monotonic() + MOST_S
        while not holds():
            if time.monotonic() > deadline:
                raise AssertionError(otherwise)
            time.sleep(every_s)

    def wait_for_nodes(self):
        """Waits until both nodes are idle. A node that was down is back in service once its daemon has registered
        (ReturnToService=2)."""
        def are_idle():
            for name, daemon in self.daemons.items():
                if daemon.poll() is not None:
                    raise AssertionError(f"the daemon of {name} has ended: {self.log_of(name)}")
            return self.run("sinfo", "-h", "-o", "%D %T") == "2 idle\n"
        self.wait(are_idle, "the nodes are not idle")

    def log_of(self, name):
        file = f"slurmd-{name}.log" if name in self.NODES else "slurmctld.log"
        with open(os.path.join(os.path.dirname(self.conf), file), encoding="utf-8", errors="replace") as log:
            return "".join(log.readlines()[-5:])

    def wait_for_jobs(self):
        self.wait(lambda: not self.run("squeue", "-h"), "jobs are not done")

    def processes(self, *variables):
        """The processes of this cluster that have one of these variables."""
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    environ = file.read().decode(errors="replace").split("\0")
            except OSError:
                continue
            if f"SLURM_CONF={self.conf}" in environ and any(v in environ for v in variables):
                yield int(name)

    def running(self, program, node):
        """The processes of a job on the node that run this program."""
        for pid in self.processes(f"SLURMD_NODENAME={node}"):
            try:
                if os.readlink(f"/proc/{pid}/exe") == os.path.realpath(program):
                    yield pid
            except OSError:
                pass

    def kill_node(self, node):
        """Kills a node as if its power was cut: its daemon, and everything that runs on it."""
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


# Facts about a configuration of a problem that do not depend on times.
FACTS = ("config", "family", "outcome", "verified", "deterministic", "artifact_key", "registers_per_thread",
         "blocks_per_sm", "detail")


def facts(report):
    """Returns for each problem, in order, the problem and all its configurations with their outcomes."""
    return [[problem["problem"], problem["pruned"], problem["invalid"],
             sorted([[entry.get(name) for name in FACTS] for entry in problem["ranking"] + problem["failures"]],
                    key=str)] for problem in report["problems"]]


def expect_same_winners(merged, whole):
    for one, other in zip(merged["problems"], whole["problems"]):
        tied = [entry["config"] for entry in other["ranking"] if entry["tie_group"] == 1]
        winner = one["ranking"][0]
        print("winner:", winner["config"], winner["time_us"], "us, in the unsharded sweep", tied[0],
              other["ranking"][0]["time_us"], "us")
        expect(winner["config"] in tied, f"{winner['config']} is not tied with {tied[0]}")


def expect_same(merged, whole):
    if not ON_GPUS:
        expect(timeless(merged) == timeless(whole), "it is not the unsharded sweep")
        return
    expect(facts(merged) == facts(whole), "it is not the unsharded sweep")
    expect_same_winners(merged, whole)
    gpus = {problem["device_uuid"] for problem in merged["problems"]}
    expect(len(gpus) == 2, f"it was measured on {gpus}")


def expect(holds, what):
    if not holds:
        raise AssertionError(what)


def missing(cluster, folder):
    some_are_missing = 14
    return json.loads(cluster.fatune("cluster", "missing", folder, "--format", "json",
                                     codes=(0, some_are_missing)))["missing"]


def is_halted(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0] == "T"


def shard_number(pid):
    with open(f"/proc/{pid}/environ", encoding="utf-8", errors="replace") as file:
        variables = dict(word.partition("=")[::2] for word in file.read().split("\0"))
    return int(variables["SLURM_ARRAY_TASK_ID"])


def record_of(fleet, folder, shard):
    return os.path.join(folder, "shards", f"{shard}-of-{fleet.shards}.json")


def halt_shard(cluster, fleet, folder):
    """Whether a shard is working on node1. If so, it is stopped, so that it cannot end before its node."""
    for pid in cluster.running(FATUNE, "node1"):
        try:
            shard = shard_number(pid)
            if shard == IDLE_SHARD:
                continue
            os.kill(pid, signal.SIGSTOP)
            cluster.wait(lambda pid=pid: is_halted(pid), "a shard does not stand still", every_s=0.001)
            if not os.path.exists(record_of(fleet, folder, shard)) and any(cluster.running(fleet.program, "node1")):
                return True
            os.kill(pid, signal.SIGCONT)
        except (OSError, KeyError):
            pass  # it has ended
    return False


def check_idle_shard(fleet, folder):
    """Checks which shard is idle. Otherwise the kill could hit a shard that has nothing to do."""
    for shard in range(1, fleet.shards + 1):
        with open(record_of(fleet, folder, shard), encoding="utf-8") as file:
            problems = json.load(file)["problems"]
        expect((problems == 0) == (shard == IDLE_SHARD), f"shard {shard} has {problems} problems")


def kill_in_the_middle(cluster, fleet, folder):
    """Kills node1 once a shard has ended and another one runs there. If each node has one shard, kills it after two
    seconds."""
    if fleet.shards == len(Cluster.NODES):
        cluster.wait(lambda: any(cluster.running(FATUNE, "node1")), "no shard was on node1")
        time.sleep(2)

    def in_the_middle():
        ended = any(os.path.exists(record_of(fleet, folder, shard)) for shard in range(1, fleet.shards + 1))
        return (ended or fleet.shards == len(Cluster.NODES)) and halt_shard(cluster, fleet, folder)
    cluster.wait(in_the_middle, "no shard was on node1", every_s=0.02)
    cluster.kill_node("node1")


def check_fleet(cluster, scratch, fleet):
    folder = os.path.join(scratch, f"a fleet's folder, {fleet.name}")
    merged = os.path.join(folder, "merged.db")
    # Kernels that are compiled first are measured first.
    cluster.fatune("sweep", *fleet.sweep, "--no-db", "--quiet")
    whole = json.loads(cluster.fatune("sweep", *fleet.sweep, "--db", os.path.join(scratch, f"{fleet.name}.db"),
                                      "--format", "json"))
    cluster.fatune("cluster", "sbatch", folder, "--shards", str(fleet.shards),
                   *(["--gres", "gpu:1"] if ON_GPUS else []), "--submit", "--", *fleet.sweep)
    kill_in_the_middle(cluster, fleet, folder)
    cluster.wait_for_jobs()
    lacking = missing(cluster, folder)
    expect(lacking, "the kill has hit no shard")
    print(f"{fleet.name}, killed:", lacking)
    part = json.loads(cluster.fatune("show", "last", "--db", merged, "--format", "json"))
    expect(part["shard"], "what is merged claims to be the whole sweep")
    expect(not part["complete"] or fleet.shards == 2, "what is merged claims to be complete")  # one alone is complete
    cluster.start_node("node1")
    cluster.wait_for_nodes()
    cluster.fatune("cluster", "retry", folder)
    cluster.wait_for_jobs()
    expect(missing(cluster, folder) == [], "retry has not repeated all")
    check_idle_shard(fleet, folder)
    report = json.loads(cluster.fatune("show", "last", "--db", merged, "--format", "json"))
    expect_same(report, whole)
    expect(report["measured"] == fleet.measured, f"it is not {fleet.name}")
    expect(os.path.getsize(os.path.join(folder, "report.html")) > 1000, "there is no report")


def main():
    with tempfile.TemporaryDirectory(prefix="fatune-slurm-") as scratch:
        cluster = Cluster(scratch)
        try:
            for fleet in FLEETS:
                check_fleet(cluster, scratch, fleet)
        finally:
            cluster.stop()
    print("the merged fleets are the unsharded sweeps")


if __name__ == "__main__":
    main()
