"""Tests of apps/graph_network: test_graph_network.py <folder for checkpoints>, on any number of ranks."""
from torch_support import WORLD

import graph_network_parts
import graph_network_training

for module in (graph_network_parts, graph_network_training):
    for name, test in list(vars(module).items()):
        if name.startswith("test_"):
            if WORLD.rank == 0:
                print(name, flush=True)
            test()
if WORLD.rank == 0:
    print(f"graph_network: all tests passed on {WORLD.size} ranks")
