#!/usr/bin/env python3
"""Repeatedly kills a rank of a job with SIGKILL at a random moment: of an application that starts, trains, or stops with a last
checkpoint, or during managing (intents, relocations, replicas), saving, saving in the background, and loading. The job must end within
seconds, a line must name the rank, and no process and no file in /dev/shm may be left. The next job must continue from the newest
checkpoint: with another number of ranks and the right sums of integers, or, for an application, with the curve of a run that was not
killed. Prints a line for each kill, and errors. Exits with 1 if there are errors, and with 77 without a launcher.

  kills.py --program faults_program --application matrix_factorization --tool lapse-checkpoint [--kills 50] [--seed N]
           [--srun TESTBED]    (the ranks are started by srun in a Slurm of two nodes that TESTBED makes)
"""

import argparse
import contextlib
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

from kills_jobs import PATIENCE, Job, Launcher, mapped_files

RANKS = 3
# The approximate maximum duration of a stage; the kill happens at a random moment of it.
STAGES = {"training": 1.5, "managing": 0.2, "saving": 0.04, "saving_async": 0.1, "loading": 0.03, "starting": 0.8, "stopping": 0.1}
# The application's status when it stops as requested.
STOP_STATUS = 75
# What mpirun prints of a process that it has lost while that connected to it.
LOST_BY_LAUNCHER = "PMIX ERROR: UNREACHABLE"
# The stages of the application.
APPLICATION = ("training", "starting", "stopping")
DATA = ["--zipf", "2000x1000x200000", "--no-baselines", "--patience", "0"]
# Under srun, ranks that are left end by themselves before Slurm kills them.
STOP_BEFORE = ["--stop-before", "10"]
# Ways to train: the folder of its checkpoints, and options. The first gives the same results in each run.
TRAINING = {"deterministic": ["--deterministic"], "intents": ["--mode", "intent"],
            "local": ["--mode", "intent", "--checkpoint-local", "{folder}/host"]}
# The launchers' messages about the killed rank.
NAMES_RANK = {
    "mpirun": r"process rank {rank} with PID \d+ on node \S+ exited on signal 9",
    "srun": r"srun: error: \S+: task {rank}: Killed",
}


class Kills:
    def __init__(self, arguments, launcher, folder):
        self.arguments = arguments
        self.launcher = launcher
        self.folder = folder
        self.random = random.Random(arguments.seed)
        self.problems = 0
        self.failed_starts = 0
        self.curve = {}  # by epoch: the results of the resumed deterministic runs

    def fail(self, text, output=""):
        self.problems += 1
        print(f"FAILED: {text}\n{output[-3000:]}", flush=True)

    def newest(self, folder):
        """The step of the newest checkpoint; checks that all checkpoints are complete."""
        if not os.path.isdir(folder):
            return 0
        result = subprocess.run([self.arguments.tool, "verify", folder], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        steps = [int(step) for step in re.findall(r"^step (\d+):", result.stdout, re.MULTILINE)]
        if result.returncode and steps:
            self.fail("a checkpoint is not whole", result.stdout)
        return max(steps, default=0)

    def newest_to_resume(self, newest, way):
        """The step that a job resumes: that of the local folder if it is newer and has the parts of all ranks."""
        steps = [newest]
        if way == "local":
            for folder in pathlib.Path(self.folder, "host").glob("step-*"):
                if len(list(folder.glob("*.part.json"))) == RANKS:
                    steps.append(int(folder.name.removeprefix("step-")))
        return max(steps)

    def sign_of(self, stage, number):
        """The line that the job prints when it has reached the stage, and how often; 0: the stage begins once all ranks run."""
        if stage == "starting":
            return "", 0
        # The first kill, and many others, when there are checkpoints to continue from.
        if stage == "stopping" or stage == "training" and (number < len(STAGES) or self.random.random() < 0.5):
            return "^epoch ", 4
        if stage == "training":
            return "^[0-9]+ x [0-9]+ matrix", 1
        return f"^stage {stage}$", self.random.randint(1, 3)

    def kill_one(self, number):
        stage = list(STAGES)[number % len(STAGES)]
        domain = self.random.choice(["rank", "host", "2"])
        # Virtual nodes share one file system: a local folder would belong to both.
        way = self.random.choice([way for way in TRAINING if way != "local" or not self.launcher.testbed])
        trains = stage in APPLICATION
        folder = os.path.join(self.folder, way if trains else "all")
        command = self.training(way, 100000) if trains else [self.arguments.program, folder, "1000"]
        sign, count = self.sign_of(stage, number)
        before = self.newest(folder)
        job = self.start(RANKS, command, domain, sign, count) if count else Job(self.launcher, RANKS, command, domain)
        ready = job.read_until(sign, count)
        end = time.monotonic() + PATIENCE
        while len(job.ranks()) < RANKS and time.monotonic() < end and job.read(0.01):
            pass
        delay = self.random.uniform(0, STAGES[stage])
        end = time.monotonic() + delay
        while time.monotonic() < end and job.read(end - time.monotonic()):
            pass
        ranks = job.ranks()
        if not ready or len(ranks) < RANKS:
            job.kill()
            return self.fail(f"the job has not come to the stage {stage}, or has ended", job.text)
        files = self.launcher.shared_files() if self.launcher.testbed else set().union(*map(mapped_files, ranks.values()))
        if not files and stage != "starting":
            self.fail(f"kill {number + 1}: the job uses nothing in /dev/shm")
        if stage == "stopping":
            for pid in ranks.values():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGUSR1)
            time.sleep(self.random.uniform(0, STAGES[stage]))
        rank = self.random.randrange(RANKS)
        with contextlib.suppress(ProcessLookupError):
            os.kill(ranks[rank], signal.SIGKILL)
        launcher, processes = job.end()
        names = re.findall(NAMES_RANK[self.launcher.name].format(rank=rank), job.text)
        left = {file for file in files if os.path.exists(file)}
        saved = max((int(step) for step in re.findall(r"^saved (\d+)$", job.text, re.MULTILINE)), default=0)
        if trains:
            # A step is an epoch. One is saved while the next is trained, and the save ends before the next
            # one begins.
            epochs = [int(epoch) for epoch in re.findall(r"^epoch +(\d+) ", job.text, re.MULTILINE)]
            saved = max([before] + [epoch - 2 for epoch in epochs])
            if epochs and epochs[0] != before + 1:
                self.fail(f"kill {number + 1}: the job has begun with epoch {epochs[0]}, the newest step was {before}", job.text)
        newest = self.newest(folder)
        row = [number + 1, self.launcher.name, stage, f"{delay * 1000:.0f} ms", domain, rank,
               "-" if launcher is None else f"{launcher:.2f} s", "-" if processes is None else f"{processes:.2f} s",
               "yes" if names else "no", len(left), newest]
        if launcher is None or processes is None:
            # A process that dies while it connects to mpirun can leave mpirun waiting: the server has not begun then.
            if stage == "starting" and LOST_BY_LAUNCHER in job.text:
                print(f"kill {number + 1}: mpirun has lost the process while that connected to it, and waits: ended by hand", flush=True)
            else:
                self.fail(f"kill {number + 1}: the job has not ended within {PATIENCE} s", job.text)
            job.kill()
        # The job may have stopped as requested before.
        if stage == "stopping" and job.process.poll() == STOP_STATUS:
            names = ["stopped"]
            row[8] = "stopped"
        if job.process.poll() == 0:
            self.fail(f"kill {number + 1}: the launcher's status is 0", job.text)
        if not names:
            self.fail(f"kill {number + 1}: no line names rank {rank}", job.text)
        if left:
            self.fail(f"kill {number + 1}: left in /dev/shm: {sorted(left)}")
        if newest < saved:
            self.fail(f"kill {number + 1}: step {saved} was saved, the newest is {newest}", job.text)
        row.append(self.resume(number, newest, way) if trains else self.restart(number, newest, folder))
        print("| " + " | ".join(str(cell) for cell in row) + " |", flush=True)

    def training(self, way, epochs):
        options = [option.format(folder=self.folder) for option in TRAINING[way]]
        return [self.arguments.application, *DATA, *options, "--epochs", str(epochs), "--resume", "--checkpoint-every", "1epochs", *STOP_BEFORE,
                "--checkpoint-dir", os.path.join(self.folder, way)]

    def resume(self, number, newest, way):
        """Resumes the application for an epoch, and records its result."""
        newest = self.newest_to_resume(newest, way)
        last = newest + 1
        job = self.start(RANKS, self.training(way, last), "rank", "^(resumed|epoch)", 1)
        launcher, _ = job.end()
        resumed = re.search(r"^resumed from step (\d+) ", job.text, re.MULTILINE)
        epochs = dict(re.findall(r"^epoch +(\d+) .*(train RMSE.*)$", job.text, re.MULTILINE))
        first = int(resumed[1]) if resumed else 0
        if launcher is None or job.process.returncode != 0 or list(epochs) != [str(last)] or first != newest:
            self.fail(f"kill {number + 1}: not resumed from step {newest}: status {job.process.poll()}", job.text)
            job.kill()
            return "failed"
        if way == "deterministic":
            self.curve |= epochs
        return f"{way}, epoch {last}"

    def check_curve(self):
        """Checks that resumed runs have the results of one run that is not killed."""
        if not self.curve:
            return
        last = max(map(int, self.curve))
        command = [self.arguments.application, *DATA, *TRAINING["deterministic"], "--epochs", str(last)]
        job = self.start(RANKS, command, "rank", "^epoch", 1)
        job.end()
        expected = dict(re.findall(r"^epoch +(\d+) .*(train RMSE.*)$", job.text, re.MULTILINE))
        for epoch, reached in self.curve.items():
            if expected.get(epoch) != reached:
                self.fail(f"epoch {epoch}: a resumed run has reached {reached}, one that was not killed {expected.get(epoch)}")

    def start(self, ranks, command, domain, pattern, count):
        """Starts a job that prints the pattern. With srun, one start in some hundred fails in MPI_Init, for any MPI program: it is repeated once."""
        job = Job(self.launcher, ranks, command, domain)
        if self.launcher.testbed is None or job.read_until(pattern, count):
            return job
        launcher, _ = job.end()
        job.kill()
        self.failed_starts += 1
        if launcher is None or self.failed_starts > 1:
            self.fail(f"a start has {'failed' if launcher is not None else 'come to nothing'}, {self.failed_starts} so far", job.text)
        return Job(self.launcher, ranks, command, domain)

    def restart(self, number, newest, folder):
        """A job of another size loads the newest checkpoint, checks all sums, and saves more checkpoints."""
        ranks = self.random.randint(2, 4)
        domain = self.random.choice(["rank", "2"])
        job = self.start(ranks, [self.arguments.program, folder, "1"], domain, "^process ", ranks)
        launcher, _ = job.end()
        loaded = re.search(r"^loaded (\d+)$", job.text, re.MULTILINE)
        if launcher is None or job.process.returncode != 0 or (newest and (loaded is None or int(loaded[1]) != newest)):
            self.fail(f"kill {number + 1}: no restart from step {newest} with {ranks} ranks: status {job.process.poll()}", job.text)
            job.kill()
            return "failed"
        return f"{ranks} ranks, step {newest}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--application", required=True)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--srun", metavar="TESTBED")
    arguments = parser.parse_args()
    # The sockets of munge need a short path.
    with tempfile.TemporaryDirectory(prefix="kills.", dir="/tmp") as folder:
        launcher = Launcher(arguments.srun, os.path.join(folder, "cluster"))
        try:
            if not launcher.start():
                print("SKIPPED: the launcher cannot be started here")
                return 77
            print(f"seed {arguments.seed}", flush=True)
            print("| kill | launcher | stage | after | domain | rank | launcher ended | processes ended | rank named | left in /dev/shm "
                  "| newest step | restart |\n" + "|---" * 12 + "|", flush=True)
            kills = Kills(arguments, launcher, os.path.join(folder, "checkpoints"))
            for number in range(arguments.kills):
                kills.kill_one(number)
            kills.check_curve()
        finally:
            launcher.stop()
    print(f"{arguments.kills} kills, {kills.problems} problems")
    return 1 if kills.problems else 0


if __name__ == "__main__":
    sys.exit(main())
