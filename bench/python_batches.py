#!/usr/bin/env python3
"""Pulls and pushes batches of local keys with the Python package, and compares them with a C++ program.

    PYTHONPATH=build/release/python /usr/bin/python3 -B bench/python_batches.py [--runs N] [--cpp PROGRAM]

Values of 25 floats, 10,000 keys, batches of 10, 100 and 1,000 keys drawn in advance, one rank and one worker. Prints the
time of a call, the median of runs of 100,000 keys. With --cpp and bench_access of the same build, also runs its case
`local pull 100 B uniform batch 1000`, and prints the ratio.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

import mpi4py
import numpy

mpi4py.rc.thread_level = "serialized"
import lapse  # noqa: E402

KEYS, LENGTH, ACCESSES = 10_000, 25, 100_000


def measure(worker, table, batch, runs):
    """Microseconds of a pull into one array, of one into a new array, and of a push."""
    random = numpy.random.default_rng(1)
    keys = [random.integers(0, KEYS, batch, dtype=numpy.uint64) for _ in range(ACCESSES // batch)]
    out = numpy.ones((batch, LENGTH), numpy.float32)
    calls = {"pull into an array": lambda some: worker.pull(table, some, out), "pull": lambda some: worker.pull(table, some),
             "push": lambda some: worker.push(table, some, out)}
    results = {}
    for name, call in calls.items():
        times = []
        for run in range(runs + 1):
            begin = time.perf_counter()
            for some in keys:
                call(some)
            if run > 0:  # the first warms up
                times.append(1e6 * (time.perf_counter() - begin) / len(keys))
        results[name] = statistics.median(times)
    return results


def measure_cpp(program, runs):
    """Microseconds of a pull of 1,000 keys by C++; in an environment without this process's MPI."""
    alone = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI_MCA_orte", "PMIX_", "OMPI_COMM"))}
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        subprocess.run([program, "--case", "local pull 100 B uniform batch 1000", "--runs", str(runs), "--no-twins", "--out", out.name],
                       env=alone, check=True, stdout=subprocess.DEVNULL)
        results = json.load(open(out.name, encoding="utf-8"))
    return results[0]["value"]  # ns for each key of 1,000, so us for a batch


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--cpp", help="the program bench_access")
    arguments = parser.parse_args()
    found = {}
    with lapse.Server(options={"lapse.log_level": "warning"}) as server:
        table = server.create_table("access", KEYS, length=LENGTH)

        def work(worker):
            for batch in (10, 100, 1000):
                found[batch] = measure(worker, table, batch, arguments.runs)
        server.run_workers(1, work)
    for batch, results in found.items():
        for name, value in results.items():
            print(f"{name}, {batch} keys: {value:.2f} us, {batch / value:.1f} M keys/s")
    if arguments.cpp:
        cpp = measure_cpp(arguments.cpp, arguments.runs)
        print(f"C++, 1000 keys: {cpp:.2f} us; Python / C++: {found[1000]['pull into an array'] / cpp:.2f}")


if __name__ == "__main__":
    main()
