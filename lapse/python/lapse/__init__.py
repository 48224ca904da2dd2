"""Lapse: parameter servers and managers over MPI. docs/python.md is the page for users.

Collective calls are made by all ranks, in one order. A wait lets other threads of Python run.
"""
import contextlib
import json
import sys
import traceback
import warnings

import numpy

from . import _native, errors
from ._native import Checkpoints, Function, Lease, Operation, Sample, Sampler, Table, Worker, __version__
from .errors import *  # noqa: F403

__all__ = ["Checkpoints", "Function", "Lease", "Manager", "Operation", "Rule", "Sample", "Sampler", "Server", "Table",
           "Worker", "errors", "prepare_mpi", *(name for name in vars(errors) if not name.startswith("_"))]

_LEVELS = ("MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE")


def prepare_mpi():
    """Before mpi4py.MPI is imported: settings of the MPI library that this one works best with."""
    _native.prepare_mpi()


class Rule:
    """An update rule of the application, for create_table; its functions are those of docs/update-rules.md.

    name: the rule with its parameters, compared across ranks. apply(value, state, update, scale) changes the arrays value
    and state. state: elements of state beside each value, at first what initialise(value, state) makes of zeros.
    merge: gradient, additive or none.
    """

    def __init__(self, name, apply, state=0, initialise=None, merge="gradient"):
        self.name, self.apply, self.state, self.initialise, self.merge = name, apply, state, initialise, merge


class Server:
    """A parameter server, one object on each rank. Collective.

    communicator: one of mpi4py; MPI.COMM_WORLD unless given. options: by full name, {"lapse.log_level": "warning"}.
    The server is closed by close() or at the end of a with block; never by the collector of garbage.
    """

    _managed = False

    def __init__(self, communicator=None, options=None):
        self._native = None
        from mpi4py import MPI
        level = MPI.Query_thread()
        if level < MPI.THREAD_SERIALIZED:
            warnings.warn(f"mpi4py has initialised MPI with {_LEVELS[level]}: expected MPI_THREAD_SERIALIZED or more, as "
                          "mpi4py.rc.thread_level says before mpi4py.MPI is imported", RuntimeWarning, stacklevel=2)
        texts = {name: str(value) for name, value in (options or {}).items()}
        # COMM_NULL is false, and refused; it is not the same as none.
        communicator = MPI.COMM_WORLD if communicator is None else communicator
        self._native = _native.Server(communicator.py2f(), texts, self._managed)

    rank = property(lambda self: self._native.rank)
    ranks = property(lambda self: self._native.ranks)
    closed = property(lambda self: self._native.closed)

    def close(self):
        """Collective."""
        self._native.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        # After PeerFailed every rank is here. Where this rank alone fails, the others would not answer.
        if kind is None or issubclass(kind, errors.PeerFailed) or self.ranks == 1:
            self.close()
            return
        from mpi4py import MPI
        traceback.print_exception(kind, value, trace)
        sys.stderr.write("lapse: this rank leaves the block of its server alone: the job ends\n")
        sys.stderr.flush()
        MPI.COMM_WORLD.Abort(1)

    def __del__(self):
        if self._native is not None and not self._native.closed:
            warnings.warn(f"rank {self._native.rank}: a {type(self).__name__} was not closed, and stays in memory",
                          ResourceWarning, source=self)

    def create_table(self, name="", keys=0, dtype=numpy.float32, *, length=1, sparse=False, initial=0.0, seed=0, rule="add",
                     home="hash", max_keys=None, memory_limit_bytes=None, eventual=None, **parameters):
        """Collective. initial: a number, ("uniform", low, high), ("normal", mean, deviation), or a function of the key.

        rule: add, assign, sgd, adagrad, rowwise_adagrad, adam or ftrl; its parameters follow by name; or a lapse.Rule.
        home: hash or range.
        """
        if home not in ("hash", "range"):
            raise errors.ConfigurationError(f"home '{home}': expected hash or range")
        if not isinstance(rule, (str, Rule)):
            raise errors.ConfigurationError(f"rule {rule!r}: expected a name or a lapse.Rule")
        if parameters and isinstance(rule, Rule):
            raise errors.ConfigurationError(f"the parameter {next(iter(parameters))!r}: a lapse.Rule has its own")
        if not isinstance(initial, tuple) and not callable(initial):
            initial = ("constant", float(initial), 0.0)
        return _native.create_table(self._native, numpy.dtype(dtype), {
            "name": name, "keys": keys, "length": length, "sparse": sparse, "initial": initial, "seed": seed, "rule": rule,
            "home_ranges": home == "range", "max_keys": max_keys, "memory_limit_bytes": memory_limit_bytes,
            "eventual": eventual, "parameters": {key: float(value) for key, value in parameters.items()}})

    def register_function(self, name, function, dtype=numpy.float32, *, argument=None, result=None):
        """Collective. A function(key, value) or function(key, value, argument) that workers run where a key is.

        It changes the array value; dtype is that of the table, argument and result are types of NumPy, or None.
        """
        argument, result = (kind if kind is None else numpy.dtype(kind) for kind in (argument, result))
        return _native.register_function(self._native, name, function, numpy.dtype(dtype), argument, result)

    def run_workers(self, workers, function):
        """Collective. Runs function(worker) on so many threads of this rank."""
        self._native.run_workers(workers, function)

    def run_here(self, function):
        """Collective. Runs function(worker) in this thread, the only worker of this rank."""
        self._native.run_here(function)

    @contextlib.contextmanager
    def start_progress(self, workers):
        """Collective, as is the end of the block. In it, so many threads may attach."""
        self._native.start_progress(workers)
        try:
            yield self
        finally:
            self._native.stop_progress()

    def attach(self, place=None):
        """For a with block, which has the worker of this thread: with server.attach() as worker."""
        return self._native.attach(place)

    def progress(self, microseconds=0):
        """Handles what messages have come; for a worker of run_here that computes long."""
        self._native.progress(microseconds)

    def mpi_calls(self):
        """For a with block with this program's own calls of MPI while workers run; none that waits for another rank."""
        return self._native.mpi_calls()

    def statistics(self):
        """Collective. What all ranks have counted."""
        return json.loads(self._native.statistics_json())

    def checkpoints(self, folder, local_folder="", keep=None):
        """Checkpoints in a folder that all ranks see."""
        return self._native.checkpoints(str(folder), str(local_folder), keep)


class Manager(Server):
    """A parameter manager: a server whose workers have clocks, intents and samples. Collective."""

    _managed = True

    def create_sampler(self, table, distribution="uniform", first=0, count=None, *, weights=(), scheme="", replacement=True):
        """Collective. distribution: uniform, log_uniform or weighted, over count keys from first on.

        scheme: naive, prelocalised, pool or local; "": as the options of the manager say.
        """
        if distribution not in ("uniform", "log_uniform", "weighted"):
            raise errors.ConfigurationError(f"distribution '{distribution}': expected uniform, log_uniform or weighted")
        if count is None:
            count = len(weights) or table.keys - first
        return _native.create_sampler(self._native, table, first, count, distribution, list(weights), scheme, replacement)
