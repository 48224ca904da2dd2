"""Which worker trains and evaluates which nodes."""
import sys

import lapse_graph
import numpy

import lapse
from torch_common.errors import ApplicationError, on_rank_0

from .data import TRAIN


class Partition:
    """part_of: the worker of each node. cut_share: of the edges, those between nodes of two workers."""

    def __init__(self, part_of, cut_share):
        self.part_of, self.cut_share = part_of, cut_share

    def nodes_of(self, part, nodes):
        """Of these nodes, those of a part."""
        return nodes[self.part_of[nodes] == part]

    def batches_of(self, nodes, parts, batch):
        """The number of batches of each part."""
        return [-(-int(count) // batch) for count in numpy.bincount(self.part_of[nodes], minlength=parts)]


def divide(world, data, parts, kind, seed):
    """Collective. Divides the nodes by metis, random or range. Raises ApplicationError on every rank."""
    graph = data.graph

    def find():
        try:
            return of_kind()
        except lapse.Error as error:
            raise ApplicationError(str(error)) from None

    def of_kind():
        if kind == "metis":
            found = lapse_graph.metis_partition(graph, parts, seed, (data.uses == TRAIN).astype(numpy.uint8))
        elif kind == "random":
            found = lapse_graph.random_partition(graph.nodes, parts, seed)
        else:
            found = lapse_graph.range_partition(graph.nodes, parts)
        return found, lapse_graph.cut_edges(graph, found) / max(1, graph.edges)
    partition = Partition(*on_rank_0(world, find))
    empty = [part for part, count in enumerate(partition.batches_of(data.nodes_of(TRAIN), parts, 1)) if count == 0]
    if empty and world.rank == 0:
        print(f"warning: {len(empty)} of {parts} workers have no nodes to train, worker {empty[0]} for example: they only evaluate",
              file=sys.stderr, flush=True)
    return partition
