"""Batches of nodes with their sampled neighbourhoods."""
import dataclasses

import lapse_graph
import numpy
import torch

from torch_common.seeds import seed_of


@dataclasses.dataclass
class Layer:
    """Sums over neighbours: output i is the sum of weights[j] * input[sources[j]], j from offsets[i] to offsets[i + 1], plus
    self_weights[i] * input[i]. The outputs are the first nodes of the input."""
    outputs: int
    offsets: torch.Tensor
    sources: torch.Tensor
    weights: torch.Tensor
    self_weights: torch.Tensor


@dataclasses.dataclass
class Batch:
    """seeds: how many of the nodes, the first ones, are classified. feature_ids: the distinct features of all nodes, in ascending
    order; feature_places: positions in them of the features of each node, from feature_offsets on; both None without features."""
    seeds: int
    nodes: torch.Tensor
    labels: torch.Tensor
    layers: list
    feature_ids: torch.Tensor = None
    feature_offsets: torch.Tensor = None
    feature_places: torch.Tensor = None
    feature_values: torch.Tensor = None


class BatchMaker:
    """Makes batches for a model: gcn or sage. Used by one thread."""

    def __init__(self, data, model):
        self._data, self._model = data, model
        self._sampler = lapse_graph.NeighbourSampler(data.graph)
        self._roots = (1 / numpy.sqrt(data.degrees + 1.0)).astype(numpy.float32)

    def make(self, seeds, limits, seed):
        """seeds: distinct nodes. limits: of the neighbours in each layer; None: all."""
        nodes, sampled = self._sampler.sample(seeds, limits, seed)
        weights_of = self._gcn_weights if self._model == "gcn" else self._mean_weights
        layers = []
        for outputs, offsets, sources in sampled:
            weights, self_weights = weights_of(nodes[:outputs], numpy.diff(offsets), nodes, sources)
            layers.append(Layer(outputs, *map(torch.from_numpy, (offsets, sources, weights, self_weights))))
        batch = Batch(len(seeds), torch.from_numpy(nodes), torch.from_numpy(self._data.classes[seeds]), layers)
        if self._data.features is not None:
            self._add_features(batch, nodes)
        return batch

    def _gcn_weights(self, outputs, counts, nodes, sources):
        """Kipf and Welling, *Semi-Supervised Classification with Graph Convolutional Networks*, ICLR 2017, equation 2: the edge
        from u to v has the weight 1 / sqrt((d_u + 1) (d_v + 1)), and so has the self loop of v. The n sampled neighbours of d
        stand for all: their weights are d / n times as large, so that the sum has the right expectation."""
        of_output = self._roots[outputs] * (self._data.degrees[outputs] / numpy.maximum(counts, 1)).astype(numpy.float32)
        return numpy.repeat(of_output, counts) * self._roots[nodes[sources]], self._roots[outputs] ** 2

    def _mean_weights(self, outputs, counts, nodes, sources):
        """Means over the sampled neighbours; the node itself has a matrix of its own."""
        return numpy.repeat((1 / numpy.maximum(counts, 1)).astype(numpy.float32), counts), numpy.ones(len(outputs), numpy.float32)

    def _add_features(self, batch, nodes):
        offsets, ids, values = self._data.features.of(nodes)
        distinct, places = numpy.unique(ids, return_inverse=True)
        batch.feature_ids, batch.feature_offsets, batch.feature_places, batch.feature_values = map(
            torch.from_numpy, (distinct, offsets, places.reshape(-1), values))


class EpochBatches:
    """The batches of one worker: each iteration is the next epoch. They depend on the seed, the epoch and the nodes, not on time.

    first_epoch: number of the epoch of the first iteration.
    """

    def __init__(self, maker, nodes, batch, limits, seed, first_epoch):
        self._maker, self._nodes, self._batch, self._limits, self._seed = maker, nodes, batch, limits, seed
        self._epoch = first_epoch

    def __len__(self):
        return -(-len(self._nodes) // self._batch)

    def __iter__(self):
        epoch, self._epoch = self._epoch, self._epoch + 1
        order = numpy.random.default_rng(seed_of(self._seed, "order", epoch)).permutation(self._nodes)
        for number, begin in enumerate(range(0, len(order), self._batch)):
            yield self._maker.make(order[begin:begin + self._batch], self._limits, seed_of(self._seed, "sample", epoch, number))
