#!/usr/bin/env python3
"""Classifies the nodes of a graph by a graph network on lapse.torch. docs/graph-network.md explains it; --help lists the options.

    mpirun -n 4 <build folder>/apps/graph_network --nodes FILE --edges FILE --split FILE [options]
"""
import sys

from torch_common.mpi import WORLD

from graph_network.options import check, command_line
from graph_network.program import run, run_plain
from torch_common.program import run_program


def read_options():
    return command_line().parse_on_all(sys.argv[1:], WORLD, check)


sys.exit(run_program(WORLD, read_options, lambda ctx, options: run(WORLD, ctx, options),
                     lambda options: run_plain(WORLD, options)))
