"""Answers of trained models, by NumPy alone: the methods and the order of answers are those of the program lapse-answers.

    model = lapse_answers.load("out/r")   # out/r.json, which the application wrote, describes the files
    model.items("42", count=10, without=["122", "7"])   # pairs of name and value, best first, without those that are known

docs/trained-models.md has the formulas. Sums are made in double precision. Equal values are in the order of rows.
"""
import collections
import json
import math
import os
import re

import numpy

_FORMAT = "lapse model 1"


class ModelError(ValueError):
    """A file is damaged, or does not match the others. The message names it."""


class UnknownName(LookupError):
    """The model has no user, item, entity, ... of this name."""


def load(model):
    """`model`: what the application was given as path or prefix, or the path of the description. Raises ModelError, OSError."""
    description = Description(model)
    if description.kind not in KINDS:
        raise ModelError(f"{description.path}: the kind '{description.kind}', expected {', '.join(KINDS)}")
    return KINDS[description.kind](description)


class Description:
    """MODEL.json: the kind, the parameters and the files of a model."""

    def __init__(self, model):
        model = os.fspath(model)
        self.path = model if model.endswith(".json") and os.path.isfile(model) else model + ".json"
        try:
            with open(self.path, encoding="utf-8") as file:
                self.content = json.load(file)
            form, self.kind = self.content["format"], self.content["kind"]
            self._parameters = dict(self.content["parameters"])
            self._files = {role: os.path.join(os.path.dirname(self.path), file["file"])
                           for role, file in self.content["files"].items()}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ModelError(f"{self.path}: no description of a model: {error!r}") from error
        if form != _FORMAT:
            raise ModelError(f"{self.path}: the format '{form}', expected '{_FORMAT}'")

    def parameter(self, name, expected, is_right):
        value = self._parameters.get(name)
        if not is_right(value):
            raise ModelError(f"{self.path}: the parameter '{name}' is {value!r}, expected {expected}")
        return value

    def count(self, name):
        return self.parameter(name, "an integer from 0", lambda value: type(value) is int and value >= 0)

    def number(self, name):
        return float(self.parameter(name, "a number", lambda value: type(value) in (int, float)))

    def choice(self, name, *choices):
        return self.parameter(name, " or ".join(map(str, choices)), lambda value: value in choices and type(value) is type(choices[0]))

    def has_parameter(self, name):
        return name in self._parameters

    def has(self, role):
        return role in self._files

    def file(self, role):
        if role not in self._files:
            raise ModelError(f"{self.path}: names no file of {role}")
        return self._files[role]

    def array(self, role, dtype, *shape):
        """Raises ModelError for another type or shape."""
        path = self.file(role)
        with open(path, "rb") as file:
            try:
                array = numpy.lib.format.read_array(file, allow_pickle=False)
            except (ValueError, TypeError, EOFError, SyntaxError, OverflowError, MemoryError) as error:
                raise ModelError(f"{path}: no array: {error}") from error
            if array.dtype != numpy.dtype(dtype) or array.shape != shape or file.read(1):
                raise ModelError(f"{path}: {array.dtype} of {array.shape}, expected {dtype} of {shape} and no further bytes")
        return array

    def names(self, role, what, count):
        """The names of a file of lines `name` or `name<TAB>count`."""
        path = self.file(role)
        names = TextNames(what, path, [line.split("\t")[0] for line in _lines(path)])
        if len(names) != count:
            raise ModelError(f"{path}: {len(names)} names, expected {count}")
        return names


class TextNames:
    """The names of rows. what: a user, an item, ..."""

    def __init__(self, what, path, names):
        self._what, self._names, self._rows = what, names, {name: row for row, name in enumerate(names)}
        if "" in self._rows or len(self._rows) != len(names):
            raise ModelError(f"{path}: a line without a name, or a name that occurs twice")

    def __len__(self):
        return len(self._names)

    def name(self, row):
        return self._names[row]

    def row(self, name):
        """None for a name that there is not."""
        return self._rows.get(str(name))

    def rows(self, names):
        """Those of the names that there are."""
        return [row for row in map(self.row, names) if row is not None]

    def find(self, name):
        row = self.row(name)
        if row is None:
            raise UnknownName(f"no {self._what} '{name}'")
        return row


class NumberNames(TextNames):
    """Row r has the number first + r, or ids[r], which ascend."""

    def __init__(self, what, count, first=0, ids=None):
        self._what, self._names, self._ids = what, range(first, first + count), ids

    def name(self, row):
        return str((self._names if self._ids is None else self._ids)[row])

    def row(self, name):
        text = str(name)
        if not (text.isascii() and text.isdigit() and len(text) < 100 and int(text) < 1 << 64):
            return None
        number = int(text)
        if self._ids is None:
            return number - self._names.start if number in self._names else None
        row = int(numpy.searchsorted(self._ids, numpy.uint64(number)))
        return row if row < len(self) and int(self._ids[row]) == number else None


class MatrixFactorization:
    def __init__(self, description):
        rank = description.count("rank")
        # Those that rank items have no mean; descriptions of earlier releases have no loss.
        self.loss = description.choice("loss", "squared", "bpr", "warp") if description.has_parameter("loss") else "squared"
        self.mean = description.number("mean") if self.loss == "squared" else 0.0
        self.rows, self.row_biases, self._user_names = self._side(description, "row", "user", rank)
        self.columns, self.column_biases, self._item_names = self._side(description, "column", "item", rank)

    @staticmethod
    def _side(description, side, what, rank):
        count = description.count(side + "s")
        factors = description.array(side + "s", "float32", count, rank)
        has_biases = description.has(side + "_biases")
        biases = description.array(side + "_biases", "float32", count).astype("float64") if has_biases else numpy.zeros(count)
        if description.has(side + "_names"):
            return factors, biases, description.names(side + "_names", what, count)
        if not description.has(side + "_ids"):
            return factors, biases, NumberNames(what, count)
        ids = description.array(side + "_ids", "uint64", count)
        if (ids[1:] <= ids[:-1]).any():
            raise ModelError(f"{description.file(side + '_ids')}: the ids do not ascend")
        return factors, biases, NumberNames(what, count, ids=ids)

    def rating(self, user, item):
        """Of a model with the loss bpr or warp: a score, which only ranks the items of one user."""
        return float(self._ratings(self._user_names.find(user), self._item_names.find(item)))

    def items(self, user, count=10, without=()):
        row = self._user_names.find(user)
        return _best(self._ratings(row, slice(None)), self._item_names, count, self._item_names.rows(without))

    def users(self, item, count=10, without=()):
        if self.loss != "squared":
            raise ModelError("the model's scores rank the items of one user, and do not compare users")
        column = self._item_names.find(item)
        return _best(self._ratings(slice(None), column), self._user_names, count, self._user_names.rows(without))

    def similar(self, name, of=None, count=10):
        is_row = _one_of(of, "columns", "rows") == "rows"
        names, factors = (self._user_names, self.rows) if is_row else (self._item_names, self.columns)
        row = names.find(name)
        return _best(_cosines(factors, factors[row]), names, count, [row])

    def _ratings(self, rows, columns):
        return self.mean + self.row_biases[rows] + self.column_biases[columns] + _dots(self.rows[rows], self.columns[columns])


class KnowledgeGraph:
    def __init__(self, description):
        self.model = description.choice("model", "complex", "distmult", "rescal", "transe")
        self.margin = description.number("margin") if self.model == "transe" else 0.0
        self.reciprocal = description.choice("reciprocal", True, False)
        dimensions = description.count("dimensions")
        lengths = {"complex": (2 * dimensions,) * 2, "rescal": (dimensions, dimensions ** 2)}.get(self.model, (dimensions,) * 2)
        entities, relations = description.count("entities"), description.count("relations")
        self.entities = description.array("entities", "float32", entities, lengths[0])
        self.relation_rows = description.array("relations", "float32", relations * (2 if self.reciprocal else 1), lengths[1])
        self._entity_names, self._relation_names = (
            description.names(what + "_names", what, count) if description.has(what + "_names") else NumberNames(what, count)
            for what, count in (("entity", entities), ("relation", relations)))

    def score(self, subject, relation, object):
        query = self._query(self._entity_names.find(subject), self._relation_names.find(relation))
        return float(self._scores(query, self.entities[self._entity_names.find(object)]))

    def tails(self, subject, relation, count=10, without=()):
        subject, relation = self._entity_names.find(subject), self._relation_names.find(relation)
        return _best(self._scores(self._query(subject, relation), self.entities), self._entity_names, count, self._entity_names.rows(without))

    def heads(self, relation, object, count=10, without=()):
        relation, object = self._relation_names.find(relation), self._entity_names.find(object)
        if self.reciprocal:
            query = self._query(object, len(self._relation_names) + relation)
        else:
            query = self._query(object, relation, missing="subject")
        return _best(self._scores(query, self.entities), self._entity_names, count, self._entity_names.rows(without))

    def relations(self, subject, object, count=10, without=()):
        subject, object = self._entity_names.find(subject), self._entity_names.find(object)
        queries = self._query(subject, slice(len(self._relation_names)))
        return _best(self._scores(queries, self.entities[object]), self._relation_names, count, self._relation_names.rows(without))

    def similar(self, name, of=None, count=10):
        names, rows = self._entity_names, self.entities
        if _one_of(of, "entities", "relations") == "relations":
            names, rows = self._relation_names, self.relation_rows[:len(self._relation_names)]
        row = names.find(name)
        return _best(_cosines(rows, rows[row]), names, count, [row])

    def _query(self, entity, relations, missing="object"):
        """A vector, or one for each of several relations, that _scores compares with candidates for the missing entity."""
        known, relations = self.entities[entity].astype("float64"), self.relation_rows[relations].astype("float64")
        if self.model == "distmult":
            return known * relations
        if self.model == "transe":
            return known + relations if missing == "object" else known - relations
        if self.model == "rescal":  # a matrix for each relation, row by row
            matrices = relations.reshape(*relations.shape[:-1], len(known), len(known))
            return numpy.einsum("i,...ij->...j" if missing == "object" else "j,...ij->...i", known, matrices)
        half = len(known) // 2  # complex numbers, real parts first
        a, b = known[:half], known[half:]
        c, d = relations[..., :half], relations[..., half:]
        if missing == "subject":
            d = -d
        return numpy.concatenate((a * c - b * d, a * d + b * c), axis=-1)

    def _scores(self, query, candidates):
        if self.model == "transe":
            return self.margin - numpy.linalg.norm(query - candidates, axis=-1)
        return _dots(query, candidates)


class WordVectors:
    def __init__(self, description):
        count, dimensions = description.count("words"), description.count("dimensions")
        encoding = description.choice("encoding", "binary", "text")
        path = description.file("vectors")
        with open(path, "rb") as file:
            data = file.read()
        header, _, data = data.partition(b"\n")
        if header.split() != [b"%d" % count, b"%d" % dimensions]:
            raise ModelError(f"{path}: the first line is not '{count} {dimensions}', as the description states")
        try:
            words, self.vectors = (_binary_vectors if encoding == "binary" else _text_vectors)(data, count, dimensions)
        except ValueError as error:
            raise ModelError(f"{path}: {error}") from error
        self._word_names = TextNames("word", path, words)

    def similar(self, name, of=None, count=10):
        _one_of(of, "words")
        row = self._word_names.find(name)
        return _best(_cosines(self.vectors, self.vectors[row]), self._word_names, count, [row])

    def analogy(self, a, b, c, count=10):
        rows = [self._word_names.find(word) for word in (a, b, c)]
        vectors = _normalized(self.vectors[rows])
        return _best(_cosines(self.vectors, vectors[1] - vectors[0] + vectors[2]), self._word_names, count, rows)


class TopicModel:
    _MAX_PASSES, _MIN_CHANGE = 100, 1e-3  # those of apps/topic_model/document_mixture.cpp

    def __init__(self, description):
        words, topics = description.count("words"), description.count("topics")
        self.counts = description.array("counts", "int32", words, topics)
        priors = description.array("priors", "float64", topics + 1)
        if (self.counts < 0).any():
            raise ModelError(f"{description.file('counts')}: negative counts")
        if not ((priors >= 1e-12) & (priors <= 1e12)).all():
            raise ModelError(f"{description.file('priors')}: priors that are not from 1e-12 to 1e12")
        self.alpha, self.beta = priors[:-1], priors[-1]
        self._totals = self.counts.sum(axis=0, dtype="int64") + words * self.beta
        has_names = description.has("vocabulary")
        self._word_names = description.names("vocabulary", "word", words) if has_names else NumberNames("word", words, first=1)
        self._topic_names = NumberNames("topic", topics, first=1)

    def topics(self, words, count=10):
        """`words`: those of a document, each as often as it occurs; a text is split at blanks. Unknown words are left out."""
        words = re.split("[ \t\r\n]+", words) if isinstance(words, str) else list(words)
        rows = collections.Counter(row for row in map(self._word_names.row, words) if row is not None)
        if not rows:
            raise UnknownName(f"the model has none of the {len(words)} words of the document")
        return _best(self.shares(numpy.array(list(rows), "int64"), numpy.array(list(rows.values()), "float32")), self._topic_names, count)

    def words(self, topic, count=10):
        topic = self._topic_names.find(topic)
        return _best((self.counts[:, topic] + self.beta) / self._totals[topic], self._word_names, count)

    def shares(self, rows, counts):
        """The share of each topic in a document with these words, by CVB0, in the precision of the application."""
        of_topics = ((self.counts[rows] + self.beta) / self._totals).astype("float32")
        alpha = self.alpha.astype("float32")
        expected = numpy.zeros(len(alpha), "float32")  # tokens of each topic
        shares = numpy.zeros_like(of_topics)
        for _ in range(self._MAX_PASSES):
            weights = of_topics * (numpy.maximum(expected - shares, 0) + alpha)
            shares = weights / weights.sum(axis=1, keepdims=True)
            before, expected = expected, counts @ shares
            if numpy.abs((expected - before).astype("float64")).sum() < self._MIN_CHANGE * counts.sum():
                break
        return (expected.astype("float64") + alpha) / (float(counts.sum()) + self.alpha.sum())


class LinearModel:
    def __init__(self, description):
        self.loss = description.choice("loss", "logistic", "hinge", "squared-hinge")
        path = description.file("model")
        lines = [line.split() for line in _lines(path) if line.strip()]
        try:
            begin = lines.index(["w"])
            header = {fields[0]: fields[1:] for fields in lines[:begin]}
            features, bias = int(header["nr_feature"][0]), float(header["bias"][0])
            self.labels = [repr(float(label)).removesuffix(".0") for label in header["label"]]
            self.weights = numpy.array([float(number) for number, in lines[begin + 1:]])
        except (ValueError, KeyError, IndexError) as error:
            raise ModelError(f"{path}: no model of liblinear: {error}") from error
        self.bias = max(bias, 0.0)
        if len(self.labels) != 2 or len(self.weights) != features + (self.bias > 0) or not numpy.isfinite(self.weights).all():
            raise ModelError(f"{path}: expected two labels and a finite weight for each of {features} features and the bias")
        self._features, self._first = features, description.count("first_feature")

    def classes(self, sample):
        """`sample`: a text `feature:value ...`, or values by feature. Features count as in the file of the training."""
        pairs = [field.split(":") for field in sample.split()] if isinstance(sample, str) else sample.items()
        dot = self.bias * self.weights[-1] if self.bias else 0.0
        for feature, value in pairs:  # an error for a field without a colon
            row = int(feature) - self._first
            if row < 0 or not math.isfinite(float(value)):
                raise ValueError(f"{feature}:{value}, expected a feature from {self._first} and a finite value")
            if row < self._features:
                dot += float(value) * self.weights[row]
        values = numpy.array([dot, -dot])
        if self.loss == "logistic":
            values = numpy.exp(-numpy.logaddexp(0, -values))
        answers = list(zip(self.labels, values.tolist()))
        return answers if dot > 0 else answers[::-1]


KINDS = {"matrix_factorization": MatrixFactorization, "knowledge_graph": KnowledgeGraph, "word_vectors": WordVectors,
         "topic_model": TopicModel, "linear_model": LinearModel}


def _best(values, names, count, left_out=()):
    wanted = numpy.ones(len(values), bool)
    wanted[list(left_out)] = False
    order = numpy.argsort(-values, kind="stable")
    return [(names.name(row), float(values[row])) for row in order[wanted[order]][:count].tolist()]


def _one_of(of, default, *others):
    if of not in (None, default, *others):
        raise ValueError(f"of='{of}', expected {' or '.join((default, *others))}")
    return of or default


def _dots(rows, others):
    return numpy.einsum("...j,...j->...", rows, others, dtype="float64")


def _normalized(rows):
    """Rows of zeros are unchanged."""
    lengths = numpy.sqrt(_dots(rows, rows))
    return rows / numpy.where(lengths == 0, 1, lengths)[..., None]


def _cosines(rows, vector):
    lengths = numpy.sqrt(_dots(rows, rows))
    return _dots(rows, _normalized(vector)) / numpy.where(lengths == 0, 1, lengths)


def _lines(path):
    """Lines without their ends. Bytes that are not UTF-8 become surrogates, as in the arguments of a program."""
    with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="\n") as file:
        return [line.removesuffix("\n").removesuffix("\r") for line in file]


def _text_vectors(data, count, dimensions):
    pairs = [line.split(b" ", 1) for line in data.removesuffix(b"\n").split(b"\n")]
    words = [word.decode("utf-8", "surrogateescape") for word, _ in pairs]
    vectors = [numpy.array(numbers.split(), "float32") for _, numbers in pairs]
    return words, numpy.array(vectors).reshape(count, dimensions)


def _binary_vectors(data, count, dimensions):
    words, vectors, begin = [], numpy.empty((count, dimensions), "<f4"), 0
    for row in range(count):
        end = data.index(b" ", begin)
        words.append(data[begin:end].decode("utf-8", "surrogateescape"))
        vectors[row] = numpy.frombuffer(data, "<f4", dimensions, end + 1)
        begin = end + 1 + 4 * dimensions
        begin += data[begin:begin + 1] == b"\n"
    if data[begin:].strip():
        raise ValueError(f"more than {count} words")
    return words, vectors
