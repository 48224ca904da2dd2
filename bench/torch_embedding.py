#!/usr/bin/env python3
"""lapse.torch.Embedding beside torch.nn.Embedding(sparse=True), in one process: forward, backward and step of a batch.

torch_embedding.py [batches]            run with PYTHONPATH=<build folder>/python

Batches of 4,096 distinct rows of 64 floats of 100,000, one thread each; microseconds of a batch, median, and the ratio.
torch: SGD, SparseAdam, and Adagrad on sparse gradients.
"""
import statistics
import sys
import time

import mpi4py
import torch

mpi4py.rc.thread_level = "serialized"
import lapse  # noqa: E402
import lapse.torch as lt  # noqa: E402

lapse.prepare_mpi()
from mpi4py import MPI  # noqa: E402

KEYS, DIM, BATCH = 100_000, 64, 4096
RATES = {"sgd": 0.1, "adagrad": 0.1, "adam": 0.001}
OPTIMIZERS = {"sgd": torch.optim.SGD, "adagrad": torch.optim.Adagrad, "adam": torch.optim.SparseAdam}


def measure(rule, batches):
    random = torch.Generator().manual_seed(1)
    ids = [torch.randint(KEYS, (BATCH,), generator=random) for _ in range(batches)]
    theirs = torch.nn.Embedding(KEYS, DIM, sparse=True)
    optimizer = OPTIMIZERS[rule](list(theirs.parameters()), lr=RATES[rule])

    def train_theirs(batch):
        theirs(batch).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    with lt.Context(MPI.COMM_WORLD, {"lapse.log_level": "error"}) as ctx:
        ours = lt.Embedding(ctx, "rows", KEYS, DIM, rule=rule, learning_rate=RATES[rule])

        def train_ours(batch):
            ours(batch).sum().backward()
            ctx.step()
        times = {train_ours: [], train_theirs: []}
        with ctx.phase():
            for batch in ids:
                for train, seconds in times.items():
                    begun = time.perf_counter()
                    train(batch)
                    seconds.append(time.perf_counter() - begun)
    mine, other = (1e6 * statistics.median(seconds[len(seconds) // 5:]) for seconds in times.values())
    print(f"{rule:8} {mine:8.0f} us, torch {other:8.0f} us: {mine / other:.2f} times", flush=True)


torch.set_num_threads(1)
for name in RATES:
    measure(name, int(sys.argv[1]) if len(sys.argv) > 1 else 100)
