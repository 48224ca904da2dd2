"""Lapse: parameter servers and managers over MPI. docs/python.md is the page for users.

Collective calls are made by all ranks, in one order. A wait lets other threads of Python run.
"""
import contextlib
import json
import warnings

import numpy

from . import _native, arguments, errors, hooks
from ._native import Checkpoints, Function, Lease, Loader, Operation, Sample, Sampler, Table, Worker, __version__
from .errors import *  # noqa: F403
from .hooks import set_hooks
from .jobs import JobControl
from .results import LoadedCheckpoint, MemoryUse, TableLoad
from .specification import Rule, table_specification, whole_numbers

__all__ = ["Checkpoints", "Function", "JobControl", "Lease", "LoadedCheckpoint", "Loader", "Manager", "MemoryUse",
           "Operation", "Rule", "Sample", "Sampler", "Server", "Table", "TableLoad", "Worker", "errors", "prepare_mpi", "set_hooks",
           *(name for name in vars(errors) if not name.startswith("_"))]

for _class in (Checkpoints, Function, Lease, Loader, Operation, Sample, Sampler, Table, Worker):
    _class.__module__ = "lapse"

_LEVELS = ("MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE")


def prepare_mpi():
    """Before mpi4py.MPI is imported: settings of the MPI library that this one works best with."""
    _native.prepare_mpi()


class Server:
    """A parameter server, one object on each rank. Collective.

    communicator: one of mpi4py; MPI.COMM_WORLD unless given. options: by full name, {"lapse.log_level": "warning"}.
    The server is closed by close() or at the end of a with block; never by the collector of garbage.
    In a child that fork has made, calls raise UsageError, and close() and the end of a with block do nothing.
    """

    _managed = False
    _native = None  # also of an object whose making has failed

    def __init__(self, communicator=None, options=None):
        from mpi4py import MPI
        level = MPI.Query_thread()
        if level < MPI.THREAD_SERIALIZED:
            warnings.warn(f"mpi4py has initialised MPI with {_LEVELS[level]}: expected MPI_THREAD_SERIALIZED or more, as "
                          "mpi4py.rc.thread_level says before mpi4py.MPI is imported", RuntimeWarning, stacklevel=2)
        texts = {name: arguments.option(value, name) for name, value in (options or {}).items()}
        # COMM_NULL is false, and refused; it is not the same as none.
        communicator = arguments.of_kind(MPI.Comm, MPI.COMM_WORLD if communicator is None else communicator, "communicator")
        self._native = _native.Server(communicator.py2f(), texts, self._managed)
        hooks.end_children()

    rank = property(lambda self: self._native.rank, doc="The number of this rank, from 0.")
    ranks = property(lambda self: self._native.ranks, doc="How many ranks there are.")
    closed = property(lambda self: self._native.closed, doc="Whether close() was called.")
    hosts = property(lambda self: self._native.hosts, doc="For each rank a number of its host.")
    stop_requested = property(lambda self: self._native.stop_requested, doc="Any thread: whether some rank has asked.")

    def __repr__(self):
        if self._native is None:
            return f"<lapse.{type(self).__name__} that was not made>"
        return f"<lapse.{type(self).__name__} of rank {self.rank} of {self.ranks}{', closed' if self.closed else ''}>"

    def __reduce_ex__(self, protocol):
        raise TypeError(f"a lapse.{type(self).__name__} is one object on each rank: it cannot be copied or pickled")

    def close(self):
        """Collective. Ends the server; nothing where it is closed already."""
        self._native.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self._native.is_left:
            # A child that fork has made: the server is its parent's, and so is the MPI_Finalize of mpi4py.
            if kind is not None and issubclass(kind, SystemExit):
                hooks.end_child(self.rank, value)
            return
        # After PeerFailed every rank is here. Where this rank alone fails, the others would not answer.
        if kind is None or issubclass(kind, errors.PeerFailed) or self.ranks == 1:
            self.close()
            return
        hooks.end_job(self.rank, kind, value, trace)

    def __del__(self):
        if self._native is not None and not self._native.closed and not self._native.is_left:
            warnings.warn(f"rank {self._native.rank}: a {type(self).__name__} was not closed, and stays in memory",
                          ResourceWarning, source=self)

    def create_table(self, name="", keys=0, **named):
        """Collective. A Table. Behind the keys, arguments are given by name; their defaults are those shown here.

        keys: of a dense table; with sparse=True any key may come, with max_keys and memory_limit_bytes on each rank at most.
        dtype=numpy.float32: or float64, int32, int64.
        length=1: elements of each value; or lengths, an array with one for each key, or a function of the key.
        initial=0.0: a number, ("uniform", low, high), ("normal", mean, deviation), or a function of the key; seed=0.
        rule="add": or assign, sgd, adagrad, rowwise_adagrad, adam or ftrl; its parameters follow by name; or a lapse.Rule.
        home="hash": or range, an array with a rank for each key, or a function of the key.
        location_caches: True or False; by default what the options of the server state.
        consistency: "sequential" or "eventual"; by default sequential, with a manager eventual.
        not_finite: what becomes of pushes and sets that are not finite: allow, count or refuse; max_push_norm: the L2 norm
        that a push to a key may have.
        """
        return _native.create_table(self._native, *table_specification(name, keys, **named))

    def estimate_memory(self, name="", keys=0, **named):
        """Not collective. What a table with these arguments of create_table would take of this rank, a MemoryUse.

        A sparse one with max_keys; a key that comes to this rank later takes a further slot.
        """
        return MemoryUse(*_native.estimate_memory(self._native, *table_specification(name, keys, **named)))

    def memory_use(self, table=None):
        """What the table, or the whole server, takes of this rank, a MemoryUse; between phases."""
        return MemoryUse(*self._native.memory_use(table))

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
            if not self._native.is_left:
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

    def request_stop(self):
        """Any thread. Asks the workers of all ranks to return early; never rolled back.

        Other ranks know within a phase soon, else in the next.
        """
        self._native.request_stop()

    def statistics(self):
        """Collective. What all ranks have counted."""
        return json.loads(self._native.statistics_json())

    def checkpoints(self, folder, local_folder="", keep=None):
        """Checkpoints in a folder that all ranks see."""
        return _native.make_checkpoints(self._native, str(folder), str(local_folder), keep)


class Manager(Server):
    """A parameter manager: a server whose workers have clocks, intents and samples. Collective."""

    _managed = True

    def set_frequencies(self, table, counts):
        """Collective. For the technique nups, before the first phase that uses the dense table.

        counts: how often each key will be accessed, equal on all ranks.
        """
        arguments.of_kind(Table, table, "table")
        counts = whole_numbers(counts, f"frequencies of table '{table.name}'", table.keys, 0, numpy.iinfo(numpy.int64).max)
        _native.set_frequencies(self._native, table, counts)

    def create_sampler(self, table, distribution=None, first=0, count=None, *, weights=None, scheme="", replacement=True,
                       postpone=None, pool_keys=None, pool_uses=None, seed=None):
        """Collective. distribution: uniform, log_uniform or weighted, over count keys from first on.

        weights: of the keys from first on, as many as there are, for weighted, which is then the default; else uniform is.
        scheme: naive, prelocalised, pool or local. postpone: a key that is not local comes after later ones of its sample.
        pool_keys: of one pool; pool_uses: of each of its keys. What is not given is as the options of the manager say.
        seed: of all draws; else the number of the sampler.
        """
        arguments.of_kind(Table, table, "table")
        if distribution is None:
            distribution = "uniform" if weights is None else "weighted"
        if distribution not in ("uniform", "log_uniform", "weighted"):
            raise errors.ConfigurationError(f"distribution '{distribution}': expected uniform, log_uniform or weighted")
        if (distribution == "weighted") != (weights is not None):
            raise errors.ConfigurationError(
                f"distribution '{distribution}' {'with' if weights is not None else 'without'} weights: expected them for weighted alone")
        weights = [] if weights is None else list(weights)
        if distribution == "weighted" and count not in (None, len(weights)):
            raise errors.ConfigurationError(f"count {count} with {len(weights)} weights: expected one of them")
        first = arguments.whole(first, "first", 0, 2**64 - 1)
        count = arguments.whole(count if count is not None else len(weights) or max(0, table.keys - first), "count", 0, 2**64 - 1)
        options = [arguments.of_kind(bool, replacement, "replacement"),
                   arguments.optional(lambda given: arguments.of_kind(bool, given, "postpone"), postpone),
                   arguments.optional(arguments.whole, pool_keys, "pool_keys", 1, 2**32 - 1),
                   arguments.optional(arguments.whole, pool_uses, "pool_uses", 1, 2**32 - 1),
                   arguments.optional(arguments.whole, seed, "seed", 0, 2**64 - 1)]
        return _native.create_sampler(self._native, table, first, count, distribution, weights, scheme, *options)
