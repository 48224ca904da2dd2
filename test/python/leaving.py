"""Only the last of several ranks leaves the block of its server. The argument is a folder for its hooks' output."""
import pathlib
import sys

import mpi4py
mpi4py.rc.thread_level = "serialized"
import lapse

lapse.prepare_mpi()
from mpi4py import MPI

folder = pathlib.Path(sys.argv[1])


def log(level, rank, message):
    (folder / "log").write_text(f"{level} {rank} {message}")
    raise ArithmeticError("of the hook")


with lapse.Server(MPI.COMM_WORLD, {"lapse.log_level": "warning"}) as server:
    table = server.create_table("table", keys=1)
    if server.rank == server.ranks - 1:
        lapse.set_hooks(log=log, fatal=lambda rank, reason: (folder / "fatal").write_text(f"{rank} {reason}"))
        raise LookupError("on one rank")
    server.run_workers(1, lambda worker: None)  # waits for that rank
