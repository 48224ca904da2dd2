"""The graph, its classes and features, as every rank has them."""
import sys
import zlib

import lapse_graph
import numpy

import lapse
from torch_common.errors import ApplicationError, on_rank_0

TRAIN, VALID, TEST = 1, 2, 3  # of lapse_graph.read_node_uses
_PIECE = 2**28  # bytes of a message

_USE_NAMES = {TRAIN: "train", VALID: "valid", TEST: "test"}


class GraphData:
    """graph: a lapse_graph.Graph. degrees: of its nodes. classes, uses: of the nodes, as numbers. class_count: the largest class
    and 1. absent_classes: those that no node has that is trained. features: Features, or None."""

    def __init__(self, graph, classes, uses, features):
        self.graph, self.classes, self.uses, self.features = graph, classes, uses, features
        self.degrees = graph.degrees()
        self.class_count = int(classes.max(initial=-1)) + 1
        trained = set(classes[uses == TRAIN].tolist())
        self.absent_classes = [number for number in range(self.class_count) if number not in trained]

    @property
    def checksum(self):
        """Of degrees, classes and uses, and of the numbers of features."""
        parts = [self.degrees, self.classes, self.uses, *([] if self.features is None else [self.features.offsets])]
        checksum = 0
        for part in parts:
            checksum = zlib.crc32(part.tobytes(), checksum)
        return checksum

    def nodes_of(self, use):
        """The numbers of these nodes, in ascending order."""
        return numpy.flatnonzero(self.uses == use)


class Features:
    """Sparse features of nodes, in compressed rows. Those of node n are offsets[n] to offsets[n + 1] of ids and values."""

    def __init__(self, offsets, ids, values, count):
        self.offsets, self.ids, self.values, self.count = offsets, ids, values, count

    def of(self, nodes):
        """(offsets, with the end; ids; values) of these nodes, in their order."""
        begins = self.offsets[nodes]
        sizes = self.offsets[nodes + 1] - begins
        offsets = numpy.zeros(len(nodes) + 1, numpy.int64)
        numpy.cumsum(sizes, out=offsets[1:])
        places = numpy.arange(offsets[-1]) + numpy.repeat(begins - offsets[:-1], sizes)
        return offsets, self.ids[places], self.values[places]

    def normalize(self):
        """Divides the features of each node by the sum of their absolute values. Nodes without features keep none."""
        sizes = numpy.diff(self.offsets)
        rows = numpy.repeat(numpy.arange(len(sizes)), sizes)
        sums = numpy.bincount(rows, numpy.abs(self.values).astype(numpy.float64), len(sizes))
        sums[sums == 0] = 1
        self.values = (self.values / sums[rows]).astype(numpy.float32)


def load(world, options):
    """Collective. Rank 0 reads the files; every rank gets a GraphData. Raises ApplicationError on every rank."""
    read = []

    def read_files():
        read.append(_read(options))
        return read[0][0]
    feature_count = on_rank_0(world, read_files)
    classes, uses, edges, offsets, ids, values = _broadcast(world, read[0][1] if world.rank == 0 else None)
    features = None
    if options.inputs != "learned":
        features = Features(offsets, ids, values, feature_count)
        if options.feature_norm == "l1":
            features.normalize()
    data = GraphData(lapse_graph.Graph(len(classes), edges), classes, uses, features)
    if world.rank == 0:
        _describe(data)
    return data


def _read(options):
    """On rank 0. Returns the number of features and the arrays."""
    try:
        classes, offsets, ids, values, feature_count = lapse_graph.read_nodes(options.nodes)
        uses = lapse_graph.read_node_uses(options.split, len(classes))
        edges = lapse_graph.read_edges(options.edges, len(classes))
    except lapse.Error as error:
        raise ApplicationError(str(error)) from None
    if not (uses == TRAIN).any():
        raise ApplicationError(f"{options.split}: no node is trained: expected lines `train`")
    unknown = numpy.flatnonzero((uses != 0) & (classes < 0))
    if len(unknown):
        use = _USE_NAMES[int(uses[unknown[0]])]
        raise ApplicationError(f"{options.split}: node {unknown[0]} (counted from 0) is for {use}, but its class in {options.nodes} is "
                               "unknown (-1)")
    if options.inputs != "learned" and feature_count == 0:
        raise ApplicationError(f"{options.nodes}: no node has features, which --inputs {options.inputs} needs")
    if options.inputs == "learned":
        offsets, ids, values = offsets[:0], ids[:0], values[:0]
    return feature_count, (classes, uses, edges, offsets, ids, values)


def _broadcast(world, arrays):
    """The arrays of rank 0, in messages of limited size."""
    forms = world.bcast([(array.shape, array.dtype) for array in arrays] if world.rank == 0 else None)
    result = []
    for number, (shape, dtype) in enumerate(forms):
        array = numpy.ascontiguousarray(arrays[number]) if world.rank == 0 else numpy.empty(shape, dtype)
        memory = array.reshape(-1).view(numpy.uint8)
        for begin in range(0, len(memory), _PIECE):
            world.Bcast(memory[begin:begin + _PIECE])
        result.append(array)
    return result


def _describe(data):
    graph = data.graph
    of_no_use = ((graph.self_loops, "self loops"), (graph.duplicates, "repeated edges"))
    left_out = "".join(f", {count} {what} left out" for count, what in of_no_use if count)
    isolated = f", {graph.isolated_nodes} nodes without edges" if graph.isolated_nodes else ""
    print(f"{graph.nodes} nodes, {graph.edges} edges{left_out}{isolated}, {data.class_count} classes; "
          f"{', '.join(f'{(data.uses == use).sum()} {name}' for use, name in _USE_NAMES.items())}", flush=True)
    if data.absent_classes:
        shown = ", ".join(map(str, data.absent_classes[:10])) + (", ..." if len(data.absent_classes) > 10 else "")
        print(f"warning: no node that is trained has class {shown}: the model will not predict it", file=sys.stderr, flush=True)
