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
from .traces import trace_band, trace_note

__all__ = ["Checkpoints", "Function", "JobControl", "Lease", "LoadedCheckpoint", "Loader", "Manager", "MemoryUse",
           "Operation", "Rule", "Sample", "Sampler", "Server", "Table", "TableLoad", "Worker", "errors", "prepare_mpi", "set_hooks",
           "trace_band", "trace_note",
           *(name for name in vars(errors) if not name.startswith("_"))]

for _class in (Checkpoints, Function, Lease, Loader, Operation, Sample, Sampler, Table, Worker):
    _class.__module__ = "lapse"

_LEVELS = ("MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE")


def prepare_mpi():
    """Call before importing mpi4py.MPI. Sets the settings of the MPI library that this library works best with."""
    _native.prepare_mpi()


class Server:
    """A parameter server, one object on each rank. Collective.

    communicator: of mpi4py; default MPI.COMM_WORLD. options: by full name, {"lapse.log_level": "warning"}.
    close() or the end of a with block closes the server; the garbage collector never does.
    In a child made by fork, calls raise UsageError; close() and the end of a with block do nothing.
    """

    _managed = False
    _native = None  # None also if the constructor has failed

    def __init__(self, communicator=None, options=None):
        from mpi4py import MPI
        level = MPI.Query_thread()
        if level < MPI.THREAD_SERIALIZED:
            warnings.warn(f"mpi4py has initialised MPI with {_LEVELS[level]}: expected MPI_THREAD_SERIALIZED or more, as "
                          "mpi4py.rc.thread_level says before mpi4py.MPI is imported", RuntimeWarning, stacklevel=2)
        texts = {name: arguments.option(value, name) for name, value in (options or {}).items()}
        # COMM_NULL is false, but it is refused, unlike None.
        communicator = arguments.of_kind(MPI.Comm, MPI.COMM_WORLD if communicator is None else communicator, "communicator")
        self._native = _native.Server(communicator.py2f(), texts, self._managed)
        hooks.end_children()

    rank = property(lambda self: self._native.rank, doc="The number of this rank, from 0.")
    ranks = property(lambda self: self._native.ranks, doc="The number of ranks.")
    closed = property(lambda self: self._native.closed, doc="Whether close() was called.")
    hosts = property(lambda self: self._native.hosts, doc="For each rank the number of its host.")
    stop_requested = property(lambda self: self._native.stop_requested, doc="Any thread. Whether any rank has requested a stop.")

    def __repr__(self):
        if self._native is None:
            return f"<lapse.{type(self).__name__} that was not made>"
        return f"<lapse.{type(self).__name__} of rank {self.rank} of {self.ranks}{', closed' if self.closed else ''}>"

    def __reduce_ex__(self, protocol):
        raise TypeError(f"a lapse.{type(self).__name__} is one object on each rank: it cannot be copied or pickled")

    def close(self):
        """Collective. Closes the server. Does nothing if it is closed already."""
        self._native.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self._native.is_left:
            # A child made by fork: the server and the MPI_Finalize of mpi4py belong to its parent.
            if kind is not None and issubclass(kind, SystemExit):
                hooks.end_child(self.rank, value)
            return
        # After PeerFailed every rank is here. If only this rank fails, the others would not answer.
        if kind is None or issubclass(kind, errors.PeerFailed) or self.ranks == 1:
            self.close()
            return
        hooks.end_job(self.rank, kind, value, trace)

    def __del__(self):
        if self._native is not None and not self._native.closed and not self._native.is_left:
            warnings.warn(f"rank {self._native.rank}: a {type(self).__name__} was not closed, and stays in memory",
                          ResourceWarning, source=self)

    def create_table(self, name="", keys=0, **named):
        """Collective. Creates a Table. Arguments after keys are given by name; their defaults are shown here.

        keys: of a dense table. sparse=True: any key is allowed; max_keys and memory_limit_bytes are limits on each rank.
        dtype=numpy.float32: or float64, int32, int64.
        length=1: elements of each value; or lengths, an array with one length per key, or a function of the key.
        initial=0.0: a number, ("uniform", low, high), ("normal", mean, deviation), or a function of the key; seed=0.
        rule="add": or assign, sgd, adagrad, rowwise_adagrad, adam or ftrl, with its parameters by name; or a lapse.Rule.
        home="hash": or range, an array with one rank per key, or a function of the key.
        location_caches: True or False; by default the server's option.
        consistency: "sequential" (default), "eventual" (default of a manager), "bsp", "cap(s)", "ssp(s)" or "essp(s)": at most s
        clocks behind, "vap(v)": at most v per key and worker missing, "vap(v, strong)": per key, "cvap(s, v)",
        "cvap(s, v, strong)".
        not_finite: allow, count or refuse pushes and sets with non-finite numbers. max_push_norm: the largest L2 norm of a
        push to a key.
        """
        return _native.create_table(self._native, *table_specification(name, keys, **named))

    def estimate_memory(self, name="", keys=0, **named):
        """Not collective. The MemoryUse of this rank for a table with these arguments of create_table.

        A sparse table needs max_keys. A key that moves to this rank later takes one more slot.
        """
        return MemoryUse(*_native.estimate_memory(self._native, *table_specification(name, keys, **named)))

    def memory_use(self, table=None):
        """Between phases. The MemoryUse of this rank for the table, or for the whole server."""
        return MemoryUse(*self._native.memory_use(table))

    def register_function(self, name, function, dtype=numpy.float32, *, argument=None, result=None):
        """Collective. Registers a function(key, value) or function(key, value, argument) that workers run at a key's owner.

        It may change the array value. dtype: the table's; argument, result: NumPy types, or None.
        """
        argument, result = (kind if kind is None else numpy.dtype(kind) for kind in (argument, result))
        return _native.register_function(self._native, name, function, numpy.dtype(dtype), argument, result)

    def run_workers(self, workers, function):
        """Collective. Runs function(worker) on this many threads of this rank."""
        self._native.run_workers(workers, function)

    def run_here(self, function):
        """Collective. Runs function(worker) in this thread, the only worker of this rank."""
        self._native.run_here(function)

    @contextlib.contextmanager
    def start_progress(self, workers):
        """Collective, as is the end of the block. Within the block this many threads may attach."""
        self._native.start_progress(workers)
        try:
            yield self
        finally:
            if not self._native.is_left:
                self._native.stop_progress()

    def attach(self, place=None):
        """Makes this thread a worker, in a with block: with server.attach() as worker."""
        return self._native.attach(place)

    def progress(self, microseconds=0):
        """Handles arrived messages; for a worker of run_here that computes for long."""
        self._native.progress(microseconds)

    def mpi_calls(self):
        """For a with block with the program's own MPI calls while workers run; they must not wait for another rank."""
        return self._native.mpi_calls()

    def request_stop(self):
        """Any thread. Asks the workers of all ranks to return early; this cannot be undone.

        Other ranks learn it soon during a phase, else in the next phase.
        """
        self._native.request_stop()

    def statistics(self):
        """Collective. The counters of all ranks."""
        return json.loads(self._native.statistics_json())

    def checkpoints(self, folder, local_folder="", keep=None):
        """Makes Checkpoints in a folder that all ranks see."""
        return _native.make_checkpoints(self._native, str(folder), str(local_folder), keep)


class Manager(Server):
    """A parameter manager: a server whose workers have clocks, intents and samples. Collective."""

    _managed = True

    def set_frequencies(self, table, counts):
        """Collective. For the technique nups. Call it before the first phase that uses the dense table.

        counts: how often each key will be accessed, equal on all ranks.
        """
        arguments.of_kind(Table, table, "table")
        counts = whole_numbers(counts, f"frequencies of table '{table.name}'", table.keys, 0, numpy.iinfo(numpy.int64).max)
        _native.set_frequencies(self._native, table, counts)

    def create_sampler(self, table, distribution=None, first=0, count=None, *, weights=None, scheme="", replacement=True,
                       postpone=None, pool_keys=None, pool_uses=None, seed=None):
        """Collective. distribution: uniform, log_uniform or weighted, over count keys starting at first.

        weights: of the keys starting at first. With weights the default is weighted, without them uniform.
        scheme: naive, prelocalised, pool or local. postpone: a key that is not local comes after later keys of its sample.
        pool_keys: keys of a pool. pool_uses: uses of each of them. Unset arguments default to the manager's options.
        seed: of all draws; default: the number of the sampler.
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
