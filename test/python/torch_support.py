"""Common parts of the tests of lapse.torch. Imports MPI, so import it first."""
import sys

import mpi4py
import torch

mpi4py.rc.thread_level = "serialized"
import lapse  # noqa: E402

lapse.prepare_mpi()
from mpi4py import MPI  # noqa: E402

FOLDER = sys.argv[1]
WORLD = MPI.COMM_WORLD
KEYS, DIM = 40, 6
OPTIONS = {"lapse.log_level": "error"}
torch.set_num_threads(1)


def weights_of(keys=KEYS, dim=DIM):
    return torch.randn(keys, dim, generator=torch.Generator().manual_seed(5))


def filled(ctx, module, weights):
    """Sets the rows, and waits until all ranks see them."""
    if ctx.worker.index == 0:
        module.set_rows(torch.arange(len(weights)), weights)
    ctx.worker.sync_barrier()
