"""The graph network."""
import torch


def aggregate(layer, inputs):
    """The sums of a batches.Layer, a row for each output."""
    return torch.nn.functional.embedding_bag(layer.sources, inputs, layer.offsets, mode="sum", per_sample_weights=layer.weights,
                                             include_last_offset=True)


class Dropout:
    """Sets a share of the numbers to zero and divides the others by the rest. Random numbers are those of the worker, so that a
    training does not depend on the order of threads."""

    def __init__(self, share):
        self.share, self.random = share, None  # a torch.Generator, before training

    def __call__(self, values, training):
        if not training or self.share == 0:
            return values
        kept = 1 - self.share
        return values * torch.empty_like(values).bernoulli_(kept, generator=self.random).div_(kept)


class GraphNetwork(torch.nn.Module):
    """Two layers of graph convolution (gcn), or of GraphSAGE with means (sage).

    gcn: Kipf and Welling, ICLR 2017, equation 9. sage: Hamilton, Ying and Leskovec, NIPS 2017, algorithm 2 with the mean
    aggregator: a node has one matrix, its neighbours another. Matrices come before sums, which gives the same result.

    feature_rows, node_rows: modules such as torch.nn.Embedding or lapse.torch.Embedding that map ids to rows, or None. A row of
    the former is a row of the first layer's matrix; a row of the latter is a node's embedding, of `dim` numbers.
    """

    def __init__(self, model, feature_rows, node_rows, dim, hidden, classes, dropout):
        super().__init__()
        self.feature_rows, self.node_rows = feature_rows, node_rows
        self._matrices = matrices_of(model)
        self.dropout = Dropout(dropout)
        if node_rows is not None:
            self.of_embeddings = torch.nn.Linear(dim, self._matrices * hidden, bias=False)
            torch.nn.init.xavier_uniform_(self.of_embeddings.weight)
        self.hidden_bias = torch.nn.Parameter(torch.zeros(hidden))
        self.of_hidden = torch.nn.Linear(hidden, self._matrices * classes, bias=False)
        torch.nn.init.xavier_uniform_(self.of_hidden.weight)
        self.class_bias = torch.nn.Parameter(torch.zeros(classes))

    def forward(self, batch, rows_seen=lambda rows: None):
        """A row of scores for each node that is classified. rows_seen: called with the rows of tables."""
        hidden = torch.relu(self._sum(batch.layers[0], self._inputs(batch, rows_seen)) + self.hidden_bias)
        hidden = self.dropout(hidden, self.training)
        return self._sum(batch.layers[1], self.of_hidden(hidden)) + self.class_bias

    def _inputs(self, batch, rows_seen):
        """The product of the inputs of all nodes and the first layer's matrices."""
        products = []
        if self.feature_rows is not None:
            rows = self.feature_rows(batch.feature_ids)
            rows_seen(rows)
            values = self.dropout(batch.feature_values, self.training)
            products.append(torch.nn.functional.embedding_bag(batch.feature_places, rows, batch.feature_offsets, mode="sum",
                                                              per_sample_weights=values, include_last_offset=True))
        if self.node_rows is not None:
            rows = self.node_rows(batch.nodes)
            rows_seen(rows)
            products.append(self.of_embeddings(self.dropout(rows, self.training)))
        return sum(products)

    def _sum(self, layer, inputs):
        if self._matrices == 1:
            return aggregate(layer, inputs) + layer.self_weights[:, None] * inputs[:layer.outputs]
        own, of_neighbours = inputs.chunk(2, dim=1)
        return own[:layer.outputs] + aggregate(layer, of_neighbours.contiguous())


def matrices_of(model):
    """How many matrices a layer has: of the sum over the node and its neighbours, or one of each."""
    return 1 if model == "gcn" else 2


def feature_bound(features, hidden, model):
    """The first layer's matrix of features is uniform in [-bound, bound) (Glorot and Bengio, AISTATS 2010)."""
    return (6 / (features + matrices_of(model) * hidden)) ** 0.5
