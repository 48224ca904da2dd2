"""The tasks on which techniques are compared: applications with their data, options and measure of quality."""
import dataclasses
import pathlib

DATA = pathlib.Path(__file__).resolve().parents[2] / "apps" / "data"
RATINGS = (DATA / "movietweetings/ratings.tsv",)
GRAPH = tuple(DATA / f"wn18rr/{split}.txt.xz" for split in ("train", "valid", "test"))
TEXTS = (DATA / "words/factbook.txt.xz",)
NODES = tuple(DATA / f"cora/{name}" for name in ("nodes.svm.xz", "edges.txt.xz", "split.txt.xz"))
PERSONS = tuple(DATA / f"adult/persons-{split}.csv.xz" for split in ("train", "test"))
QUESTIONS = {"--analogies": DATA / "words/questions-words.txt.xz", "--word-similarity": DATA / "words/wordsim353.tsv"}


def last_rmse(summary):
    """The test error after the last epoch; None if it is not a number."""
    return {"test RMSE": summary["history"][-1].get("test_rmse")}


def ranking(summary):
    return {"test MRR": summary.get("test_mrr")} if "test_mrr" in summary else {"loss": summary["history"][-1]["loss"]}


def word_scores(summary):
    # Without pairs of known words there is no correlation; the loss shows whether a training has diverged.
    found = {"loss": summary["history"][-1]["loss"]}
    if "word_similarity" in summary:
        found = {"word similarity": summary["word_similarity"], "analogies": summary["analogy_accuracy"]}
    return found


def node_accuracy(summary):
    return {"test accuracy": summary.get("last_test_accuracy")}


def click_scores(summary):
    return {"test AUC": summary.get("test_auc"), "log loss": summary.get("test_log_loss")}


@dataclasses.dataclass(frozen=True)
class Task:
    """`files`: of the data; `inputs` turns them into arguments. An option without a value has None."""
    name: str
    program: str
    files: tuple
    inputs: object
    options: dict
    epochs: int
    quality: object  # {name: value} of a summary
    lead: dict       # options that replace others where leads are compared: batches are so small that there are many
    smoke: dict      # and in a smoke run
    smoke_files: tuple = None  # None: those above

    def arguments(self, series_options):
        """The command line of the application, without technique, seed and summary."""
        options = {**self.options, "--epochs": self.epochs, **series_options}
        if self.quality in (ranking, node_accuracy) and self.files:
            options.setdefault("--evaluate-every", options["--epochs"])
        return [*self.inputs(self.files), *(str(word) for name, value in options.items()
                                            for word in (name, value) if word is not None)]


def rating_inputs(files):
    return [str(file) for file in files]


def graph_inputs(files):
    names = ("", "--valid", "--test")
    return [word for name, file in zip(names, files) for word in (name, str(file)) if word]


def text_inputs(files):
    return [str(file) for file in files]


def node_inputs(files):
    return [word for name, file in zip(("--nodes", "--edges", "--split"), files) for word in (name, str(file))]


def click_inputs(files):
    return [str(files[0]), "--test", str(files[1])]


_RECIPES = DATA.parent / "recipes"
_CLICKS = {"--schema": _RECIPES / "adult.schema", "--config": _RECIPES / "adult.ini", "--evaluate-every": 0}
_PATIENT = {"--patience": 0, "--no-baselines": None}
_SMALL_WORDS = {"--dim": 4, "--epochs": 1, "--min-count": 50, "--lookahead": 4}

TASKS = {task.name: task for task in (
    Task("ratings", "matrix_factorization", RATINGS, rating_inputs, {"--rank": 32, **_PATIENT}, 20, last_rmse,
         {"--batch": 4, "--epochs": 5}, {"--zipf": "300x100x5000", "--epochs": 2, "--rank": 4}, ()),
    Task("matrix", "matrix_factorization", (), rating_inputs, {"--zipf": "100000x10000x5000000", "--zipf-exponent": 1.1,
         "--rank": 32, "--rate": 0.005, **_PATIENT}, 5, last_rmse,
         {"--batch": 16, "--epochs": 2},
         {"--zipf": "200x100x5000", "--epochs": 2, "--rank": 4}),
    Task("graph", "knowledge_graph_embeddings", GRAPH, graph_inputs, {"--dim": 100}, 3, ranking, {"--batch": 2, "--epochs": 2},
         {"--generate": "200,5,2000", "--dim": 4, "--epochs": 1}, ()),
    Task("words", "word_vectors", TEXTS, text_inputs, {"--dim": 100, "--progress": 0, **QUESTIONS}, 3, word_scores,
         {"--batch": 32, "--epochs": 2}, _SMALL_WORDS),
    Task("nodes", "graph_network", NODES, node_inputs, {"--dim": 64, "--hidden": 64, "--batch": 4}, 20, node_accuracy,
         {"--batch": 1, "--epochs": 5}, {"--dim": 4, "--hidden": 4, "--epochs": 1, "--batch": 32}),
    # No worker waits for the gradients of another one, as in AdaPM.
    Task("clicks", "click_prediction", PERSONS, click_inputs, {"--dense": "table", "--batch": 512, **_CLICKS}, 3, click_scores,
         {"--batch": 64, "--epochs": 1}, {"--bins": 2, "--dim": 4, "--epochs": 1, "--batch": 2048}),
)}


def chosen(name, files=None, options=None, smoke=False):
    """The task with other files, if given, and with options that override its own."""
    task = TASKS[name]
    options = dict(options or {})
    epochs = int(options.pop("--epochs", task.epochs))
    own = {**task.options, **options}
    if smoke:
        own.update(task.smoke)
        epochs = own.pop("--epochs")
        files = task.smoke_files if task.smoke_files is not None else files
    return dataclasses.replace(task, options=own, epochs=epochs, files=task.files if files is None else tuple(files))
