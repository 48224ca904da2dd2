"""Checkpoints of a training, its stop at a signal, and its continuation in a later job."""
import io
import os
import pathlib
import re
import signal
import sys
import tempfile

import torch

import lapse

from .errors import ApplicationError, on_rank_0


class TrainingJob:
    """One object on each rank. Without --checkpoint-dir no call does anything.

    All calls are collective and made between phases, except shall_leave. A state is what torch.save can save, of rank 0.
    Progress is in epochs and in clocks of a worker since the training began; it is equal on all ranks.
    """

    _MAX_FAILURES = 3

    def __init__(self, ctx, options, world):
        """ctx: a lapse.torch.Context. options: those of add_checkpoint_options. Raises ApplicationError."""
        self._ctx, self._options, self._world = ctx, options, world
        self._folder = options.checkpoint_dir
        self._control = None
        self.stop_text = ""
        if self._folder is None:
            return
        self._keep = options.checkpoint_keep or None
        self._every = options.checkpoint_every
        for number in options.signals:
            # What JobControl restores in the end: launchers repeat a signal to a program that has saved its work.
            signal.signal(number, signal.SIG_IGN)
        self._control = lapse.JobControl(
            ctx.manager, options.signals, every_epochs=self._every.get("epochs"), every_clocks=self._every.get("clocks"),
            every_seconds=self._every.get("seconds"), grace=options.stop_before)
        self._steps = on_rank_0(world, self._existing_steps)
        if self._steps and not options.resume:
            self.close()
            raise ApplicationError(f"{self._folder} has checkpoints: add --resume to continue from the newest, or choose another "
                                   "--checkpoint-dir")
        self._next_step = max(self._steps, default=0) + 1
        self._saved, self._saved_step = None, 0
        self._interval_clocks = self._clocks_at_phase = 0
        self._failures = 0
        self._identity = {}

    def close(self):
        """Ends the handling of signals."""
        if self._control is not None:
            self._control.__exit__(None, None, None)
            self._control = None

    def _existing_steps(self):
        folder = pathlib.Path(self._folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                pass
        except OSError as error:
            raise ApplicationError(f"--checkpoint-dir: {self._folder}: cannot be written to: {error.strerror}") from None
        return sorted(int(match[1]) for match in (re.fullmatch(r"step-(\d+)", name) for name in os.listdir(folder)) if match)

    def begin(self, identity):
        """Loads the tables if there is a checkpoint to resume, and returns its state; None: the training starts.

        identity: {name: value} of options and data that the run must share with the checkpoint; as texts.
        """
        self._identity = {name: str(value) for name, value in identity.items()}
        if self._control is None:
            return None
        options = self._options
        if not self._steps and options.resume_step is None:
            if options.resume and self._world.rank == 0:
                print(f"no checkpoint in {self._folder}: the training starts", flush=True)
            return None
        # The state alone at first: another run is recognised by its options, not by the lengths of its tables.
        loaded, run, state = saved_state(self._ctx, self._folder, options.resume_step, self._keep)
        for problem in loaded.problems:
            self._warn(problem)
        self._require_equal(run, f"step {loaded.step} in {self._folder}")
        self._ctx.load(self._folder, loaded.step, self._keep)
        self._saved_step = loaded.step
        if self._world.rank == 0:
            print(f"resumed from step {loaded.step} in {self._folder}", flush=True)
        return state

    def _require_equal(self, run, name):
        for key, value in self._identity.items():
            before = run.get(key, value)
            if before != value:
                raise ApplicationError(f"{key} is {value}, but {before} in the checkpoint that is to be resumed, {name}: give it "
                                       "the same value, or choose another --checkpoint-dir")

    def set_progress(self, epochs, clocks):
        """After begin, for a training that is resumed."""
        if self._control is not None:
            self._saved = (epochs, clocks) if self._saved_step else None
            self._begin_interval(epochs, clocks)

    def shall_leave(self, clocks):
        """Any worker, often: whether it is to end its phase early, because the job is to stop or a checkpoint is due. clocks: of the
        worker in this phase."""
        if self._control is None:
            return False
        every = self._every.get("clocks")
        return (self._control.stop_requested or self._control.checkpoint_due
                or every is not None and self._clocks_at_phase + clocks - self._interval_clocks >= every)

    def pause(self, epochs, clocks, state):
        """After each phase: saves a checkpoint if one is due. state: a function. True: the job has stopped, with a checkpoint."""
        if self._control is None:
            return False
        self._clocks_at_phase = clocks
        if self._control.should_stop():
            self._save(epochs, clocks, state)
            self.stop_text = f"stopped: {self._control.stop_reason}; --resume continues from step {self._saved_step} in {self._folder}"
            self.close()
            return True
        if self._control.need_checkpoint(epochs=epochs, clocks=clocks):
            try:
                self._save(epochs, clocks, state)
                self._failures = 0
            except lapse.CheckpointError as error:  # On every rank.
                self._failures += 1
                if self._failures == self._MAX_FAILURES:
                    raise
                self._warn(f"no checkpoint was saved: {error}; the next is tried after the interval")
            self._begin_interval(epochs, clocks)
        return False

    def finish(self, epochs, clocks, state):
        """After the training: saves the last checkpoint."""
        if self._control is not None:
            self._save(epochs, clocks, state)
            self.close()

    def _begin_interval(self, epochs, clocks):
        self._control.begin_interval(epochs=epochs, clocks=clocks)
        self._interval_clocks = self._clocks_at_phase = clocks

    def _save(self, epochs, clocks, state):
        if self._saved == (epochs, clocks):
            return
        step, self._next_step = self._next_step, self._next_step + 1
        self._ctx.save(self._folder, step, {"run": self._identity, "state": state()}, self._keep)
        self._saved, self._saved_step = (epochs, clocks), step

    def _warn(self, text):
        if self._world.rank == 0:
            print(f"warning: {text}", file=sys.stderr, flush=True)


def saved_state(ctx, folder, step=None, keep=None):
    """Collective, between phases. (lapse.LoadedCheckpoint, identity, state) of the newest checkpoint, or of a step; tables are not loaded.
    Raises ApplicationError, and lapse.CheckpointError if there is none."""
    loaded = ctx.manager.checkpoints(folder, keep=keep).load(step)
    try:
        saved = torch.load(io.BytesIO(loaded.blob), map_location="cpu")
        return loaded, saved["run"], saved["state"]
    except Exception:  # Whatever another program has saved.
        raise ApplicationError(f"step {loaded.step} in {folder} is not the checkpoint of an application for PyTorch") from None
