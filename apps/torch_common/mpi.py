"""Initialises MPI for programs with lapse.torch. Import it first."""
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # Workers are the threads of a rank. Before torch is imported.

import mpi4py

mpi4py.rc.thread_level = "serialized"

import lapse

lapse.prepare_mpi()

from mpi4py import MPI

WORLD = MPI.COMM_WORLD
