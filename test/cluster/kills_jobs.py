"""Jobs whose ranks can be found and killed, started by mpirun or by srun."""

import contextlib
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import time

# The job must have ended by then. On an idle machine it takes a tenth of that.
PATIENCE = 30
# Slurm's KillWait: longer than PATIENCE, so that ranks end by themselves.
KILL_WAIT = "120"
MARK = "LAPSE_TEST_KILLS"


class Launcher:
    """Starts ranks by mpirun, or by srun in a Slurm of virtual nodes."""

    def __init__(self, testbed, folder):
        self.testbed = testbed
        self.folder = folder
        self.name = "srun" if testbed else "mpirun"
        self.environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def start(self):
        if self.testbed is None:
            return shutil.which("mpirun") is not None
        if subprocess.run([self.testbed, "start", self.folder], env=self.environment | {"NODES": "2", "CPUS": "4", "KILLWAIT": KILL_WAIT}).returncode:
            return False
        settings = subprocess.run([self.testbed, "env", self.folder], stdout=subprocess.PIPE, text=True, check=True).stdout
        for name, value in re.findall(r"(\w+)='?([^' \n]*)'?", settings.replace("export ", "")):
            self.environment[name] = value
        return True

    def stop(self):
        if self.testbed:
            subprocess.run([self.testbed, "stop", self.folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def command(self, ranks):
        if self.testbed is None:
            return ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(ranks)]
        return ["srun", "--mpi=pmix", "--kill-on-bad-exit=1", "--nodes=2", f"--ntasks={ranks}", "--time=5"]

    def shared_files(self):
        """The files in /dev/shm of the nodes, which only the testbed uses."""
        names = set()
        for pid in pids():
            with contextlib.suppress(OSError):
                if pathlib.Path(f"/proc/{pid}/comm").read_text() == "slurmd\n" and self.folder in environment_of(pid).get("SLURM_CONF", ""):
                    names |= {f"/proc/{pid}/root/dev/shm/{name}" for name in os.listdir(f"/proc/{pid}/root/dev/shm")}
        return names


class Job:
    """A running job, and its output until now."""

    count = 0

    def __init__(self, launcher, ranks, command, domain):
        Job.count += 1
        self.mark = f"{os.getpid()}.{Job.count}"
        self.text = ""
        self.process = subprocess.Popen(
            launcher.command(ranks) + command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=launcher.environment | {MARK: self.mark, "LAPSE_DOMAIN": domain})

    def read(self, seconds):
        """Reads output that is available, or arrives within the given number of seconds. Returns False at the end of the output."""
        if not select.select([self.process.stdout], [], [], max(0, seconds))[0]:
            return True
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        self.text += data.decode(errors="replace")
        return bool(data)

    def read_until(self, pattern, count, patience=PATIENCE):
        end = time.monotonic() + patience
        while len(re.findall(pattern, self.text, re.MULTILINE)) < count:
            if time.monotonic() > end or not self.read(end - time.monotonic()):
                return False
        return True

    def ranks(self):
        """The process of each rank."""
        found = {}
        for pid in pids():
            environment = environment_of(pid)
            rank = environment.get("PMIX_RANK")
            # Skips the launcher and its processes.
            if environment.get(MARK) == self.mark and rank is not None and runs(pid):
                found[int(rank)] = pid
        return found

    def end(self):
        """Waits until the launcher and all processes of the job have ended. Returns the seconds that each took, or None."""
        begin = time.monotonic()
        while self.read(begin + PATIENCE - time.monotonic()):
            if time.monotonic() > begin + PATIENCE:
                return None, None
        self.process.wait()
        launcher = time.monotonic() - begin
        while any(environment_of(pid).get(MARK) == self.mark and runs(pid) for pid in pids()):
            if time.monotonic() > begin + PATIENCE:
                return launcher, None
            select.select([], [], [], 0.02)
        return launcher, time.monotonic() - begin

    def kill(self):
        for pid in pids():
            if environment_of(pid).get(MARK) == self.mark:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)


def pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def environment_of(pid):
    try:
        data = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return {}
    return dict(entry.split("=", 1) for entry in data.decode(errors="replace").split("\0") if "=" in entry)


def runs(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def mapped_files(pid):
    """Files in /dev/shm that a process has mapped."""
    try:
        return set(re.findall(r"(/dev/shm/\S+)", pathlib.Path(f"/proc/{pid}/maps").read_text()))
    except OSError:
        return set()
