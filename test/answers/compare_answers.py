#!/usr/bin/env python3
"""Compares the answers of lapse-answers with those of the module lapse_answers, for small models of all kinds.

compare_answers.py --programs BUILD_FOLDER --launcher "mpirun ... -n" --module FOLDER --scratch FOLDER

Names and values are equal, except for rounding; names of equal values may be in another order. Both agree with what the
applications predict. Damaged files, unknown names and wrong commands are errors in both.
"""
import argparse
import itertools
import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy

import small_models

RELATIVE = 1e-4  # difference of values
SECONDS = 60  # for one program

failures = []


def check(is_right, what):
    if not is_right:
        failures.append(what)
        print("FAILED", what, flush=True)


class Programs:
    def __init__(self, folder, launcher):
        self._apps, self._launcher = folder / "apps", launcher.split()
        self._environment = os.environ | {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def train(self, program, *arguments):
        command = [*self._launcher, "1", self._apps / program, *map(str, arguments)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=self._environment,
                                stdin=subprocess.DEVNULL)
        if result.returncode != 0:
            sys.exit(f"{program} {' '.join(map(str, arguments))}: exit status {result.returncode}\n{result.stdout}{result.stderr}")

    def answers(self, *arguments, text=""):
        return subprocess.run([self._apps / "lapse-answers", *map(str, arguments)], capture_output=True, text=True, timeout=SECONDS,
                              input=text, env=self._environment)


def are_close(left, right, scale):
    return math.isclose(left, right, rel_tol=RELATIVE, abs_tol=RELATIVE * scale)


def arguments_of(options):
    """seen=["a", "b"], count=3: --seen a --seen b --count 3"""
    pairs = ((name, value) for name, values in options.items() for value in (values if isinstance(values, list) else [values]))
    return [argument for name, value in pairs for argument in (f"--{name}", value)]


def call(model, question, fields):
    method = getattr(model, question.command)
    if question.without:
        return method(*fields, **question.options, without=question.without(*fields))
    if question.command == "topics":
        return method(fields, **question.options)
    if question.command == "classes":
        return method(" ".join(fields), **question.options)
    return method(*fields, **question.options)


def expected_answers(model, question, fields):
    """The answers, and the value of every name, as ties may be in another order."""
    answers = call(model, question, fields)
    if question.command == "classes":
        return answers, dict(answers)
    every = question._replace(options=question.options | {"count": 1 << 30})
    return answers, dict(call(model, every, fields))


def compare_query(model, question, fields, line, what):
    check("error" not in line, f"{what}: {line}")
    if question.command in ("rating", "score"):
        check(are_close(line.get("value", math.nan), call(model, question, fields), 1), f"{what}: {line}")
        return
    answers, values = expected_answers(model, question, fields)
    found = line.get("answers", [])
    names = [answer["name"] for answer in found]
    check(len(found) == len(answers) and len(set(names)) == len(names), f"{what}: {len(found)} answers, expected {len(answers)}")
    scale = max((abs(value) for _, value in answers), default=0)
    for answer, (name, value) in zip(found, answers):
        is_right = are_close(answer["value"], value, scale) and are_close(values.get(answer["name"], math.nan), value, scale)
        check(is_right, f"{what}: {answer}, expected {name} {value}")


def compare(programs, scratch, name, small_model, lapse_answers):
    model = lapse_answers.load(small_model.model)
    for question in small_model.questions:
        path = scratch / "queries.txt"
        path.write_text("".join(("\t" if len(fields) > 1 else "").join(fields) + "\n" for fields in question.queries))
        options = arguments_of(question.options | question.files)
        result = programs.answers(question.command, small_model.model, "--queries", path, "--json", *options)
        what = f"{name} {question.command} {' '.join(map(str, options))}"
        check(result.returncode == 0, f"{what}: exit status {result.returncode}: {result.stderr}")
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        check(len(lines) == len(question.queries), f"{what}: {len(lines)} lines for {len(question.queries)} queries")
        for number, (fields, line) in enumerate(zip(question.queries, lines), 1):
            is_numbered = question.command in ("topics", "classes")
            check(line["query"] == (number if is_numbered else fields), f"{what}: query {line['query']}, expected {fields}")
            compare_query(model, question, fields, line, f"{what} {fields}")
        compare_text(programs, small_model, question, options, model)


def compare_text(programs, small_model, question, options, model):
    """The first query, as arguments and without --json, from standard input with it."""
    fields = question.queries[0]
    result = programs.answers(question.command, small_model.model, *fields, *options)
    expected = call(model, question, fields)
    query = ["1"] if question.command in ("topics", "classes") else fields
    rows = [[*query, value] for value in [expected]] if isinstance(expected, float) else [[*query, *pair] for pair in expected]
    found = [line.split("\t") for line in result.stdout.splitlines()]
    what = f"text of {small_model.model.name} {question.command}: {result.stdout}{result.stderr}"
    check([row[:len(query)] for row in rows] == [row[:len(query)] for row in found], what)
    scale = max((abs(row[-1]) for row in rows), default=0)
    check(all(len(left) == len(right) and are_close(left[-1], float(right[-1]), scale) for left, right in zip(rows, found)), what)
    line = ("\t" if len(fields) > 1 else "").join(fields)
    by_stream = programs.answers(question.command, small_model.model, *options, text=line + "\n")
    check(by_stream.returncode == 0 and by_stream.stdout == result.stdout, f"by standard input, {what}")


def compare_with_applications(models, folder, lapse_answers):
    """What the applications themselves predict."""
    topics = lapse_answers.load(models["topics"].model)
    entries = [line.split() for line in (folder / "bag.txt").read_text().splitlines()[3:]]
    shares = [line.split("\t") for line in (folder / "shares.tsv").read_text().splitlines()]
    for document, group in itertools.groupby(entries, key=lambda entry: entry[0]):
        words = [word for _, word, count in group for _ in range(int(count))]
        own = dict(topics.topics(words, count=1000))
        expected = shares[int(document) - 1][1:]
        check(all(abs(own[str(topic)] - float(share)) < 2e-5 for topic, share in enumerate(expected, 1)),
              f"shares of document {document}: {own}, expected {expected}")
    for name in ("logistic", "squared-hinge", "hinge", "from-zero"):
        model = lapse_answers.load(models[name].model)
        lines = zip((folder / f"{name}.svm").read_text().splitlines(), (folder / f"{name}.predictions").read_text().splitlines())
        for sample, prediction in lines:
            label, value, *probability = prediction.split("\t")
            fields = sample.split()[1:]
            answers = model.classes(" ".join(fields))
            positive = float(probability[0]) if probability else float(value)
            is_right = answers[0][0] == label and are_close(dict(answers)[model.labels[0]], positive, 1)
            check(is_right, f"{name} {sample}: {answers}, expected {prediction}")


def compare_scores(models, lapse_answers):
    """The score of a model that ranks items, by its formula: no mean, and biases of items alone."""
    for name, loss in (("bpr", "bpr"), ("warp", "warp"), ("biases", "squared")):
        path = models[name].model
        content = json.loads(Path(f"{path}.json").read_text())
        parameters, files = content["parameters"], content["files"]
        check(parameters["loss"] == loss and ("mean" in parameters) == (loss == "squared"), f"{name}: {parameters}")
        biases = {role for role in files if role.endswith("biases")}
        expected = {"bpr": {"column_biases"}, "warp": set(), "squared": {"row_biases", "column_biases"}}[loss]
        check(biases == expected and all(role in content["formula"] for role in biases), f"{name}: {sorted(files)}, {content['formula']}")
        if loss == "squared":
            continue
        rows, columns, users, items = (numpy.load(f"{path}-{role}.npy") for role in ("rows", "columns", "row-ids", "column-ids"))
        scores = rows.astype("float64") @ columns.T + (numpy.load(f"{path}-column-biases.npy") if biases else 0)
        model = lapse_answers.load(path)
        own = [[model.rating(user, item) for item in items] for user in users]
        check(numpy.allclose(own, scores, rtol=RELATIVE, atol=RELATIVE), f"{name}: {own[0]}, expected {scores[0]}")


def is_error(result, *words):
    """One line of text, with these words, and no answers."""
    return result.returncode == 1 and not result.stdout and all(word in result.stderr for word in words)


def raises(error, function, *arguments):
    try:
        function(*arguments)
    except error as raised:
        return str(raised)
    return ""


def check_unknown_names(programs, models, lapse_answers):
    known = models["biases"].questions[0].queries[0][0]
    cases = [("biases", "rating", [known, "7777777"], "no item '7777777'"), ("biases", "items", ["bob"], "no user 'bob'"),
             ("generated", "users", ["40"], "no item '40'"), ("names", "items", ["Bob"], "no user 'Bob'"),
             ("complex", "score", ["Ort-1", "is near", "x"], "no entity 'x'"),
             ("complex", "tails", ["Ort-1", "near"], "no relation 'near'"),
             ("transe-reciprocal", "heads", ["is near", "nowhere"], "no entity 'nowhere'"),
             ("numbered", "relations", ["1", "20"], "no entity '20'"), ("vectors.text", "similar", ["w99"], "no word 'w99'"),
             ("vectors.binary", "analogy", ["w1", "w2", "W3"], "no word 'W3'"), ("topics", "words", ["0"], "no topic '0'"),
             ("topics-named", "words", ["10"], "no topic '10'")]
    for name, command, fields, message in cases:
        path, questions = models[name]
        raised = raises(lapse_answers.UnknownName, getattr(lapse_answers.load(path), command), *fields)
        check(raised == message, f"{name} {command} {fields}: raises '{raised}', expected '{message}'")
        good = next(q for q in questions if q.command == command).queries[0]
        lines = "".join("\t".join(query) + "\n" for query in (fields, good))
        result = programs.answers(command, path, "--json", text=lines)
        parsed = [json.loads(line) for line in result.stdout.splitlines()]
        is_right = len(parsed) == 2 and parsed[0] == {"query": fields, "error": message} and "error" not in parsed[1]
        what = f"{name} {command} {fields}"
        check(result.returncode == 1 and is_right, f"{what}: exit status {result.returncode}: {result.stdout}{result.stderr}")
        result = programs.answers(command, path, *fields)
        check(result.returncode == 1 and message in result.stdout + result.stderr, f"{what}: {result.stdout}{result.stderr}")
    # Scores of one user's items do not compare users.
    item = models["bpr"].questions[0].queries[0][1]
    raised = raises(lapse_answers.ModelError, lapse_answers.load(models["bpr"].model).users, item)
    result = programs.answers("users", models["bpr"].model, item)
    check("do not compare users" in raised and is_error(result, "do not compare users"), f"{raised}: {result.stdout}{result.stderr}")


def damages():
    """Name of a model, role of the file to damage, or None for the description, and what changes its bytes; None removes it."""
    def cut(data):
        return data[:len(data) // 2]

    def replaced(old, new):
        def change(data):
            assert old in data, old
            return data.replace(old, new)
        return change

    yield from (("biases", None, change) for change in (cut, replaced(b"model 1", b"model 7"), replaced(b'"rank"', b'"tank"'),
                                                          replaced(b"matrix_factorization\",\n", b"matrix\",\n"), lambda data: b"[]", None))
    yield from (("biases", role, change) for role in ("rows", "column_biases", "row_ids")
                for change in (cut, None, lambda data: data + b"x", lambda data: b""))
    yield "bpr", None, replaced(b'"loss": "bpr"', b'"loss": "other"')
    yield from (("complex", role, change) for role, change in (("entity_names", lambda data: data + b"x\t1\n"), ("relations", cut),
                                                                 ("entity_names", replaced(b"Ort-11\t", b"Ort-12\t"))))
    yield from (("vectors.binary", "vectors", cut), ("vectors.text", "vectors", cut), ("vectors.text", "vectors", replaced(b".", b"x")),
                ("vectors.binary", "vectors", replaced(b"w11 ", b"w12 ")), ("topics", "counts", cut),
                ("topics", "priors", None), ("topics-named", "vocabulary", replaced(b"Wort9", b"Wort8")),
                ("logistic", "model", replaced(b"nr_feature", b"features")), ("hinge", "model", lambda data: data + b"1\n"))


def check_damaged_files(programs, models, scratch, lapse_answers):
    for number, (name, role, change) in enumerate(damages()):
        path = small_models.copy_of(models[name].model, scratch / f"damaged-{number}")
        description = Path(f"{path}.json")
        file = description if role is None else path.parent / json.loads(description.read_text())["files"][role]["file"]
        data = file.read_bytes()
        file.unlink()
        if change is not None:
            file.write_bytes(change(data))
        error = lapse_answers.ModelError if change is not None else OSError
        what = f"damage {number} of {name}, {file.name}"
        raised = raises(error, lapse_answers.load, path)
        check(file.name in raised, f"{what}: raises '{raised}'")
        question = models[name].questions[0]
        result = programs.answers(question.command, path, *question.queries[0])
        check(is_error(result, file.name), f"{what}: exit status {result.returncode}: {result.stdout}{result.stderr}")


def check_wrong_use(programs, models, lapse_answers):
    for name, command, fields in (("biases", "tails", ["1", "2"]), ("complex", "rating", ["Ort-1", "Ort-2"]),
                                  ("vectors.text", "topics", ["w1"]), ("topics", "classes", ["1:1"]), ("logistic", "words", ["1"]),
                                  ("vectors.binary", "score", ["a", "b", "c"])):
        result = programs.answers(command, models[name].model, *fields)
        check(result.returncode != 0 and result.stderr and not result.stdout, f"{command} of {name}: {result.stdout}{result.stderr}")
        check(not hasattr(lapse_answers.load(models[name].model), command), f"{command} of {name} in Python")
    for name, command, arguments in (("biases", "rating", ["1"]), ("complex", "tails", ["Ort-1", "is near", "Ort-2"]),
                                     ("complex", "similar", ["Ort-1", "--of", "rows"]), ("logistic", "classes", ["1"]),
                                     ("biases", "items", ["1", "--seen", "/missing.tsv"])):
        result = programs.answers(command, models[name].model, *arguments)
        check(result.returncode != 0, f"{command} {arguments} of {name}: {result.stdout}")
    for name, model in models.items():
        result = programs.answers("describe", model.model)
        kind = json.loads(Path(f"{model.model}.json").read_text())["kind"]
        check(result.returncode == 0 and kind in result.stdout, f"describe {name}: {result.stdout}{result.stderr}")
        by_path = programs.answers("describe", f"{model.model}.json")
        check(by_path.stdout == result.stdout, f"describe {name}.json: {by_path.stdout}{by_path.stderr}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", type=Path, required=True)
    parser.add_argument("--launcher", default="mpirun --oversubscribe --bind-to none -n")
    parser.add_argument("--module", type=Path, required=True)
    parser.add_argument("--scratch", type=Path, required=True)
    options = parser.parse_args()
    sys.path.insert(0, str(options.module.resolve()))
    import lapse_answers
    scratch = options.scratch.resolve() / "answers"
    shutil.rmtree(scratch, ignore_errors=True)
    programs = Programs(options.programs.resolve(), options.launcher)
    models = small_models.train_all(programs.train, scratch / "models")
    for name, model in models.items():
        compare(programs, scratch, name, model, lapse_answers)
    compare_with_applications(models, scratch / "models", lapse_answers)
    compare_scores(models, lapse_answers)
    check_unknown_names(programs, models, lapse_answers)
    check_damaged_files(programs, models, scratch, lapse_answers)
    check_wrong_use(programs, models, lapse_answers)
    queries = sum(len(question.queries) for model in models.values() for question in model.questions)
    print(f"{len(models)} models, {queries} queries, {len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
