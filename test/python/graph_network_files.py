"""Small graphs for the tests of apps/graph_network."""
import pathlib

import numpy

from torch_support import FOLDER, WORLD

NODES, CLASSES = 60, 3
DATA = pathlib.Path(FOLDER).parent / f"{pathlib.Path(FOLDER).name}_data"


def write(name, text):
    """Rank 0 writes a file; all ranks get its path when it is there."""
    if WORLD.rank == 0:
        DATA.mkdir(parents=True, exist_ok=True)
        (DATA / name).write_text(text, encoding="utf-8")
    WORLD.barrier()
    return str(DATA / name)


def planted_edges():
    """Nodes n and m of one class, n % CLASSES, are often neighbours; a few edges are between classes."""
    random = numpy.random.default_rng(3)
    pairs = random.integers(NODES // CLASSES, size=(150, 2)) * CLASSES
    of_class = pairs + random.integers(CLASSES, size=(150, 1))
    return numpy.concatenate([of_class, random.integers(NODES, size=(10, 2))])


def planted(split=None, classes=None):
    """Files of a graph whose classes can be learned: from the edges, and from features that some nodes have. The last node
    has neither. Options that name them."""
    random = numpy.random.default_rng(4)
    classes = [n % CLASSES for n in range(NODES)] if classes is None else classes
    lines = [f"{classes[n]} {n % CLASSES + 1}:{1 + random.random():.3f} {4 + random.integers(5)}:1" if n % 4 else f"{classes[n]}"
             for n in range(NODES - 1)]
    edges = [(a, b) for a, b in planted_edges() if NODES - 1 not in (a, b)]
    split = [("train", "train", "valid", "test")[n // CLASSES % 4] for n in range(NODES)] if split is None else split
    return ["--nodes", write("nodes", "\n".join([*lines, str(classes[-1])]) + "\n"),
            "--edges", write("edges", "".join(f"{a} {b}\n" for a, b in edges)),
            "--split", write("split", "\n".join(split) + "\n")]
