"""Files, batches and layers of apps/graph_network."""
import pathlib

import numpy
import torch

from graph_network_files import NODES, planted, write
from support import refused
from torch_support import WORLD

import lapse
import lapse_graph
from graph_network import data as graph_data
from graph_network.batches import BatchMaker, EpochBatches
from graph_network.data import TRAIN
from graph_network.model import GraphNetwork, matrices_of
from graph_network.options import check, command_line
from graph_network.partition import divide
from torch_common.errors import ApplicationError, OptionError


def options_of(*arguments):
    options = command_line().parse(list(arguments))
    check(options)
    return options


def load(*arguments):
    return graph_data.load(WORLD, options_of(*arguments))


def test_options():
    files = ["--nodes", "n", "--edges", "e", "--split", "s"]
    options = options_of(*files, "--neighbours", "all", "--evaluation-neighbours", "10,25")
    assert options.neighbours == (None, None) and options.evaluation_neighbours == (10, 25)
    assert options_of(*files, "--neighbours", "5").neighbours == (5, 5)
    for arguments, part in ((["--neighbours", "1,2,3"], "--neighbours has 3 numbers"), (["--neighbours", "0"], "from 1"),
                            (["--inputs", "given", "--dim", "4"], "--dim applies only with --inputs learned or both"),
                            (["--feature-norm", "none"], "--feature-norm applies only with --inputs given or both"),
                            (["--plain", "--technique", "nups"], "--technique applies only without --plain"),
                            (["--split", ""], "--split")):
        refused(OptionError, part, options_of, *files, *arguments)
    refused(OptionError, "--split is missing", options_of, *files[:4])
    recipes = pathlib.Path(graph_data.__file__).parents[1] / "recipes"
    for name in ("cora", "facebook-pages"):
        assert options_of(*files, "--config", str(recipes / f"{name}.ini")).inputs == "given"
        assert options_of(*files, "--config", str(recipes / f"{name}-learned.ini")).inputs == "learned"


def test_files():
    data = load(*planted(), "--inputs", "given")
    assert data.graph.nodes == NODES and data.class_count == 3 and not data.absent_classes
    assert data.graph.isolated_nodes >= 1 and data.degrees.sum() == 2 * data.graph.edges and data.graph.duplicates > 0
    offsets, ids, values = data.features.of(numpy.array([5, 0, 1]))
    assert list(offsets) == [0, 2, 2, 4] and ids[0] == 5 % 3 and abs(values[:2].sum() - 1) < 1e-6
    assert load(*planted(classes=[0, 2, 2] * 20)).absent_classes == [1]


def test_bad_files():
    good = planted()

    def fails(option, text, part, *arguments):
        files = list(good)
        files[files.index(option) + 1] = write("bad", text)
        refused(ApplicationError, part, load, *files, *arguments)
    fails("--edges", f"0 1\n2 {NODES}\n", "bad:2:3: node id '60' out of range, expected at most 59")
    fails("--edges", "0 1 2\n", "bad:1:1: 3 fields, expected 2")
    fails("--nodes", "0 1:0.5\n1 2:nan\n", "bad:2:5: value 'nan', expected a finite number")
    fails("--nodes", "0.5 1:0.5\n", "class 0.5 of node 0")
    fails("--nodes", "0\n" * NODES, "no node has features, which --inputs given needs", "--inputs", "given")
    fails("--nodes", "-1\n" + "0\n" * (NODES - 1), "node 0 (counted from 0) is for train, but its class")
    fails("--split", "train\ntest\n", "has 2 lines, expected one for each of 60 nodes")
    fails("--split", "test\n" * NODES, "no node is trained")
    fails("--split", "train\nvalidate\n", "bad:2:1: 'validate', expected train, valid, test or none")
    refused(ApplicationError, "nowhere", load, "--nodes", "/nowhere", *good[2:])
    graph = lapse_graph.Graph(3, numpy.zeros((0, 2), numpy.uint32))
    refused(lapse.UsageError, "node 3 of a batch", lapse_graph.NeighbourSampler(graph).sample, numpy.array([3]), [None], 0)
    refused(lapse_graph.FileError, "nowhere", lapse_graph.read_edges, "/nowhere", 3)
    assert issubclass(lapse_graph.FileError, lapse.Error)


def dense_outputs(data, network, kind):
    """The scores of all nodes, by products of dense matrices."""
    adjacency = torch.zeros(NODES, NODES)
    for node in range(NODES):
        adjacency[node, data.graph.neighbours(node).astype(numpy.int64)] = 1
    features = torch.zeros(NODES, data.features.count)
    offsets, ids, values = data.features.of(numpy.arange(NODES))
    rows = numpy.repeat(numpy.arange(NODES), numpy.diff(offsets))
    features[torch.from_numpy(rows), torch.from_numpy(ids)] = torch.from_numpy(values)

    def layer(inputs, matrix):
        if kind == "gcn":
            looped = adjacency + torch.eye(NODES)
            roots = looped.sum(1).rsqrt()
            return roots[:, None] * looped * roots @ inputs @ matrix
        own, of_neighbours = matrix.chunk(2, dim=1)
        return inputs @ own + adjacency / adjacency.sum(1).clamp(min=1)[:, None] @ inputs @ of_neighbours
    inputs, first = features, network.feature_rows.weight
    if network.node_rows is not None:
        inputs = torch.cat([features, network.node_rows.weight], 1)
        first = torch.cat([first, network.of_embeddings.weight.T])
    hidden = torch.relu(layer(inputs, first) + network.hidden_bias)
    return layer(hidden, network.of_hidden.weight.T) + network.class_bias


def test_layers_are_products_of_matrices():
    data = load(*planted(), "--inputs", "both")
    torch.manual_seed(1)
    seeds = numpy.array([7, NODES - 1, 0, 33])  # with the isolated node
    for kind in ("gcn", "sage"):
        rows = torch.nn.Embedding(data.features.count, matrices_of(kind) * 5)
        for nodes in (None, torch.nn.Embedding(NODES, 4)):
            network = GraphNetwork(kind, rows, nodes, 4, 5, 3, 0.5).eval()
            found = network(BatchMaker(data, kind).make(seeds, (None, None), 0))
            assert torch.allclose(found, dense_outputs(data, network, kind)[seeds], atol=1e-5)


def test_samples_have_the_right_expectation():
    data = load(*planted(), "--inputs", "given")
    for kind in ("gcn", "sage"):
        maker = BatchMaker(data, kind)
        node = int(data.degrees.argmax())
        inputs = torch.arange(NODES, dtype=torch.float32)

        def output(limits, seed):
            batch = maker.make(numpy.array([node]), limits, seed)
            layer = batch.layers[-1]
            assert len(layer.sources) == min(int(data.degrees[node]), limits[1] or NODES)
            return float((layer.weights * inputs[batch.nodes[layer.sources]]).sum())
        mean = numpy.mean([output((3, 3), seed) for seed in range(2000)])
        assert abs(mean / output((None, None), 0) - 1) < 0.03, kind


def test_batches():
    data = load(*planted())
    nodes = data.nodes_of(TRAIN)

    def epochs(first, count, seed=1):
        batches = EpochBatches(BatchMaker(data, "gcn"), nodes, 8, (2, 2), seed, first)
        assert len(batches) == 4
        return [[(batch.nodes.tolist(), batch.layers[0].sources.tolist()) for batch in batches] for _ in range(count)]
    two = epochs(1, 2)
    assert two == epochs(1, 2) and two[1:] == epochs(2, 1) and two[0] != two[1] and two != epochs(1, 2, seed=2)
    batches, later = (list(EpochBatches(BatchMaker(data, "gcn"), nodes, 8, (2, 2), 1, epoch)) for epoch in (1, 2))
    orders = [numpy.concatenate([batch.nodes[:batch.seeds].numpy() for batch in of_epoch]) for of_epoch in (batches, later)]
    assert all(sorted(order) == sorted(nodes) for order in orders) and any(orders[0] != orders[1])
    assert all((batch.labels.numpy() == data.classes[batch.nodes[:batch.seeds]]).all() for batch in batches)


def test_partitions():
    data = load(*planted())
    for kind in ("metis", "random", "range") if lapse_graph.has_metis() else ("random", "range"):
        partition = divide(WORLD, data, 3, kind, 1)
        parts = [partition.nodes_of(part, numpy.arange(NODES)) for part in range(3)]
        assert sorted(numpy.concatenate(parts)) == list(range(NODES))
        assert sum(partition.batches_of(data.nodes_of(TRAIN), 3, 1)) == (data.uses == TRAIN).sum()
        assert partition.cut_share < (0.2 if kind == "metis" else 1)

    def fails(*arguments):
        raise lapse.UsageError("too large")
    before, lapse_graph.range_partition = lapse_graph.range_partition, fails
    try:
        refused(ApplicationError, "too large", divide, WORLD, data, 3, "range", 1)
    finally:
        lapse_graph.range_partition = before
