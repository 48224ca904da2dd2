"""A program in Python that sees nothing but the installation. The argument is the folder of its libraries."""
import ctypes
import os
import sys

import mpi4py
import numpy

mpi4py.rc.thread_level = "serialized"
import lapse

lapse.prepare_mpi()
from mpi4py import MPI

with lapse.Manager(MPI.COMM_WORLD, {"lapse.log_level": "warning"}) as manager:
    table = manager.create_table("sums", keys=10, length=2)

    def add(worker):
        worker.push(table, 3, numpy.ones(2, numpy.float32))
        worker.sync_barrier()
        assert (worker.pull(table, 3) == worker.count).all()

    manager.run_workers(2, add)

# A part of this program that is written in C uses the package's library.
ctypes.CDLL(os.path.join(sys.argv[1], "liblapse_c.so"))
with open("/proc/self/maps", encoding="utf-8") as maps:
    loaded = {os.path.realpath(line.split()[-1]) for line in maps if "/liblapse.so" in line}
expected = {os.path.realpath(os.path.join(sys.argv[1], "liblapse.so"))}
assert loaded == expected, f"liblapse.so of {loaded}: expected that of the installation"
sys.stdout.write("Python works\n")  # in one write: lines of ranks do not mix
