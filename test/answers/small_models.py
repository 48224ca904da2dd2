"""Trains small models of all kinds, on generated data, and lists questions for them."""
import concurrent.futures
import json
import lzma
import random
import shutil
from pathlib import Path
from typing import Callable, NamedTuple

LARGEST_ID = (1 << 64) - 1


class Question(NamedTuple):
    """A command of lapse-answers, which is a method of lapse_answers, too. options: by name, such as count=3."""
    command: str
    queries: list  # lists of fields
    options: dict = {}
    files: dict = {}  # options of the command alone, such as seen=[...]
    without: Callable = None  # of the fields: the names that these files leave out


class SmallModel(NamedTuple):
    model: Path  # as given to the application
    questions: list


def train_all(run, folder):
    """run(program, *arguments) runs an application. Returns SmallModels by name."""
    folder.mkdir(parents=True, exist_ok=True)
    kinds = (_graphs, _factorizations, _linear_models, _topic_models, _word_vectors)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:  # A start of MPI is waiting for the larger part.
        return {name: model for models in pool.map(lambda train: train(run, folder), kinds) for name, model in models.items()}


def _texts(pairs):
    return [(str(user), str(item)) for user, item in pairs]


def _pairs(random_numbers, left, right, count=12):
    return [[random_numbers.choice(left), random_numbers.choice(right)] for _ in range(count)]


def _factorization_questions(users, items, seen):
    """seen: pairs of user and item by file."""
    numbers = random.Random(2)
    first = next(iter(seen))
    pairs = [pair for of_file in seen.values() for pair in of_file]
    return [Question("rating", _pairs(numbers, users, items)),
            Question("items", [[user] for user in users[:4]]),
            Question("items", [[user] for user in users[:4]], {"count": 5}, {"seen": list(seen)},
                     lambda user: [item for of, item in pairs if of == user]),
            Question("users", [[item] for item in items[:4]], {"count": 1000}, {"seen": [first]},
                     lambda item: [user for user, of in seen[first] if of == item]),
            Question("similar", [[item] for item in items[:4]], {"count": 4}),
            Question("similar", [[user] for user in users[-3:]], {"of": "rows"})]


def _factorizations(run, folder):
    numbers = random.Random(1)
    users = sorted(numbers.sample(range(10 ** 6), 59)) + [LARGEST_ID]
    items = sorted(numbers.sample(range(1000), 40))
    cells = numbers.sample([(user, item) for user in users for item in items], 700)
    lines = [f"{user}\t{item}\t{numbers.randint(1, 10) / 2}\t0\n" for user, item in cells]
    ratings, header, packed = folder / "ratings.tsv", folder / "header.csv", folder / "blanks.txt.xz"
    ratings.write_text("".join(lines))
    others = numbers.sample([(user, item) for user in users[:4] for item in items], 39)
    header.write_text("user, item, rating\n\n" + "".join(f"{user}, {item}, 1\n" for user, item in others[9:]) + f"5,{items[0]},1\n")
    packed.write_bytes(lzma.compress("".join(f" {users[0]}  {item} 3.5 \r\n" for item in items[:9]).encode()))
    ordered = folder / "ordered.txt"  # by the names of columns
    ordered.write_text('"Rating";"time";"item_id";"user id"\n' + "".join(f'1;"2; {user}";"{item}";{user}\n' for user, item in others[:9]))
    of_header = _texts([*others[9:], (5, items[0])])
    seen = {str(ratings): _texts(cells), str(header): of_header, str(packed): _texts((users[0], item) for item in items[:9]),
            str(ordered): _texts(others[:9])}
    questions = _factorization_questions([str(user) for user in users], [str(item) for item in items], seen)
    common = ("--rank", "5", "--epochs", "2", "--initial-scale", "0.5", "--no-baselines")
    models = {}
    for name, arguments in (("biases", ()), ("no-biases", ("--no-biases",)), ("bpr", ("--loss", "bpr")),
                            ("warp", ("--loss", "warp", "--no-biases", "--positive-from", "1.5"))):
        run("matrix_factorization", ratings, *common, *arguments, "--output-prefix", folder / name)
        asked = [question for question in questions if "--loss" not in arguments or question.command != "users"]
        models[name] = SmallModel(folder / name, asked)
    run("matrix_factorization", "--zipf", "50x40x2000", *common, "--output-prefix", folder / "generated")
    numbered = folder / "numbered.csv"
    numbered.write_text("3,4,1\n3,0,2\n7,0,3\n99,0,1\n")
    rows, columns = [str(i) for i in range(50)], [str(i) for i in range(40)]
    models["generated"] = SmallModel(folder / "generated", _factorization_questions(rows, columns, {str(numbered): [("3", "4"), ("3", "0"), ("7", "0")]}))
    named = folder / "named.csv"
    named.write_text("userId,movieId,rating\n" + "".join(f'user-{user},"Gerät,{item}",{item % 7}\n' for user, item in cells))
    run("matrix_factorization", named, *common, "--output-prefix", folder / "names")
    users, items = [f"user-{user}" for user in users], [f"Gerät,{item}" for item in items]
    seen = {str(named): [(f"user-{user}", f"Gerät,{item}") for user, item in cells]}
    models["names"] = SmallModel(folder / "names", _factorization_questions(users, items, seen))
    return models


def _graph_questions(entities, relations, known, triples):
    """known: files that have the triples."""
    numbers = random.Random(4)
    files = {"known": known}
    return [Question("score", [[s, numbers.choice(relations), o] for s, o in _pairs(numbers, entities, entities)]),
            Question("tails", _pairs(numbers, entities, relations)),
            Question("tails", _pairs(numbers, entities, relations), {"count": 1000}, files,
                     lambda s, r: [o for known_s, known_r, o in triples if (known_s, known_r) == (s, r)]),
            Question("heads", _pairs(numbers, relations, entities), {"count": 3}),
            Question("heads", _pairs(numbers, relations, entities), {"count": 1000}, files,
                     lambda r, o: [s for s, known_r, known_o in triples if (known_r, known_o) == (r, o)]),
            Question("relations", _pairs(numbers, entities, entities), {}, files,
                     lambda s, o: [r for known_s, r, known_o in triples if (known_s, known_o) == (s, o)]),
            Question("similar", [[entity] for entity in entities if " " not in entity][:4]),
            Question("similar", [[relation] for relation in relations[:2]], {"of": "relations"})]


def _graphs(run, folder):
    numbers = random.Random(3)
    entities = [f"Ort-{i}" for i in range(30)] + ["São Paulo", "New York", "λ"]
    relations = [f"_liegt_in_{i}" for i in range(4)] + ["is near"]
    triples = [(numbers.choice(entities), numbers.choice(relations), numbers.choice(entities)) for _ in range(400)]
    train, words = folder / "triples.tsv", folder / "triples.txt"
    train.write_text("".join("\t".join(triple) + "\n" for triple in triples))
    single = [triple for triple in triples if " " not in "".join(triple)]
    words.write_text("".join("  ".join(triple) + "\n" for triple in [*single[:9], ("Ort-0", "_unknown", "Ort-1")]))
    # Names that occur, as the application has only these.
    entities = [name for name in entities if any(name in (s, o) for s, _, o in triples)]
    questions = _graph_questions(entities, relations, [str(train), str(words)], triples)
    common = ("--dim", "4", "--epochs", "2", "--negatives", "2")
    models = {}
    for name in ("complex", "complex-reciprocal", "distmult", "rescal", "rescal-reciprocal", "transe", "transe-reciprocal"):
        model, *reciprocal = name.split("-")
        run("knowledge_graph_embeddings", train, "--model", model, *(f"--{option}" for option in reciprocal), *common,
            "--output-prefix", folder / name)
        models[name] = SmallModel(folder / name, questions)
    numbered = folder / "numbers.txt"
    triples = [(str(numbers.randrange(20)), str(numbers.randrange(3)), str(numbers.randrange(20))) for _ in range(60)]
    numbered.write_text("".join(" ".join(triple) + "\n" for triple in triples))
    run("knowledge_graph_embeddings", "--generate", "20,3,100", *common, "--reciprocal", "--output-prefix", folder / "numbered")
    names = [str(i) for i in range(20)]
    models["numbered"] = SmallModel(folder / "numbered", _graph_questions(names, ["0", "1", "2"], [str(numbered)], triples))
    return models


def _word_vectors(run, folder):
    numbers = random.Random(5)
    words = [f"w{i}" for i in range(40)] + ["naïve", "λόγος"]
    text = folder / "text.txt"
    text.write_text("".join(" ".join(numbers.choices(words, range(60, 60 - len(words), -1), k=12)) + "\n" for _ in range(300)))
    questions = [Question("similar", [["w0"], ["naïve"], ["w7"]], {"count": 5}),
                 Question("similar", [["w1"]], {"count": 1000}),
                 Question("analogy", [numbers.sample(words, 3) for _ in range(6)] + [["w1", "w1", "w2"]])]
    models = {}
    for encoding in ("binary", "text"):
        path = folder / f"vectors.{encoding}"
        run("word_vectors", text, "--dim", "6", "--epochs", "2", "--output-format", encoding, "--output", path)
        models[path.name] = SmallModel(path, questions)
    return models


def _topic_questions(words, topics):
    numbers = random.Random(7)
    documents = [numbers.choices(words, k=numbers.randint(1, 40)) for _ in range(8)]
    return [Question("topics", [*documents, ["_unknown_", words[0]]], {"count": topics}),
            Question("topics", documents[:2], {"count": 2}),
            Question("words", [[str(topic)] for topic in range(1, topics + 1)]),
            Question("words", [["1"]], {"count": 1000})]


def _topic_models(run, folder):
    numbers = random.Random(6)
    words, documents, topics = [f"Wort{i}" for i in range(50)], 60, 9
    entries = [(document, word, numbers.randint(1, 5)) for document in range(1, documents + 1)
               for word in sorted(numbers.sample(range(1, len(words) + 1), 12))]
    bag, vocabulary = folder / "bag.txt", folder / "vocabulary.txt"
    bag.write_text(f"{documents}\n{len(words)}\n{len(entries)}\n" + "".join(f"{d} {w} {n}\n" for d, w, n in entries))
    vocabulary.write_text("".join(f"{word}\n" for word in words))
    common = ("--topics", str(topics), "--alpha", "0.3", "--epochs", "4")
    run("topic_model", bag, *common, "--save-model", folder / "topics")
    run("topic_model", bag, "--vocabulary", vocabulary, *common, "--optimize-every", "2", "--optimize-after", "2",
        "--save-model", folder / "topics-named")
    run("topic_model", bag, "--model", folder / "topics", "--document-topics", folder / "shares.tsv")
    numbered = [str(word) for word in range(1, len(words) + 1)]
    return {"topics": SmallModel(folder / "topics", _topic_questions(numbered, topics)),
            "topics-named": SmallModel(folder / "topics-named", _topic_questions(words, topics))}


def _linear_models(run, folder):
    numbers = random.Random(8)
    models = {}
    for name, first, labels, arguments in (("logistic", 1, ("0", "1"), ("--bias", "1.5")),
                                           ("squared-hinge", 1, ("-2.5", "3"), ("--bias", "0.7")),
                                           ("hinge", 1, ("-1", "1"), ()),
                                           ("from-zero", 0, ("-1", "1"), ("--loss", "logistic", "--penalty", "l1"))):
        samples = []
        for _ in range(120):
            features = sorted(numbers.sample(range(first, first + 20), 6))
            values = [numbers.gauss(0, 1) for _ in features]
            label = labels[sum(values[:3]) + numbers.gauss(0, 1) > 0]
            samples.append((label, [f"{feature}:{value:.4f}" for feature, value in zip(features, values)]))
        data, model = folder / f"{name}.svm", folder / f"{name}.model"
        data.write_text("".join(" ".join([label, *fields]) + "\n" for label, fields in samples))
        loss = arguments if "--loss" in arguments else ("--loss", name, *arguments)
        run("linear_model", data, *loss, "--epochs", "20", "--save-model", model)
        run("linear_model", "--predict", data, "--model", model, "--output", folder / f"{name}.predictions")
        models[name] = SmallModel(model, [Question("classes", [fields for _, fields in samples[:10]] + [["1:2", "999:1"]])])
    return models


def copy_of(model, folder):
    """A copy of the model's files, to be damaged; returns its path."""
    folder.mkdir()
    description = Path(f"{model}.json")
    for file in json.loads(description.read_text())["files"].values():
        shutil.copy(description.parent / file["file"], folder)
    shutil.copy(description, folder)
    return folder / model.name
