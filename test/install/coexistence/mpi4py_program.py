"""mpi4py beside servers of the package: messages of the program, some in flight during phases, on two communicators."""
import numpy
import mpi4py

mpi4py.rc.thread_level = "serialized"
import lapse

lapse.prepare_mpi()
from mpi4py import MPI

KEYS = 50


def main():
    world = MPI.COMM_WORLD
    part = world.Split(color=world.rank % 2, key=-world.rank)
    right, left = (world.rank + 1) % world.size, (world.rank - 1) % world.size
    with lapse.Server(world) as of_world, lapse.Server(part) as of_part:
        tables = {server: server.create_table("sums", keys=KEYS, dtype=numpy.float64) for server in (of_world, of_part)}
        for step in range(1, 5):
            received = numpy.zeros(1)
            waiting = world.Irecv(received, source=left, tag=1)
            for server, members in ((of_world, world.size), (of_part, part.size)):
                def add(worker):
                    worker.push(tables[server], numpy.arange(KEYS), numpy.ones((KEYS, 1)))
                    worker.barrier()
                    assert (worker.pull(tables[server], numpy.arange(KEYS)) == step * members).all()
                    worker.barrier()

                if step % 2 == 0:
                    server.run_workers(1, add)
                else:
                    server.run_here(add)
            world.Send(numpy.array([10.0 * step + world.rank]), dest=right, tag=1)
            waiting.Wait()
            assert received[0] == 10 * step + left
            assert world.allreduce({"step": step}, op=lambda a, b: a if a == b else None) == {"step": step}
            assert part.allgather(step) == [step] * part.size
    part.Free()
    if world.rank == 0:
        print("mpi4py works")


main()
