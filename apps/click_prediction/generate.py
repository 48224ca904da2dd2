#!/usr/bin/env python3
"""Writes a generated data set for click prediction as CSV, and its schema, for example:

    python3 generate.py --rows 10000000 --ids 1000000 clicks.csv

The columns f1, f2, ... are categorical, with ids drawn by Zipf's law; n1, n2 are numbers. The label is drawn from the logistic model of the
columns' weights, which depend on the seed alone: another --part has other rows of this model.
"""
import argparse
import sys

import numpy

_AT_ONCE = 20000  # rows


def zipf_ids(random, count, ids, exponent):
    """Numbers from 0 to ids - 1, with a frequency of about (number + 1)^-exponent: by the inverse of a continuous distribution."""
    uniform = random.random(count)
    if exponent == 1:
        values = numpy.exp(uniform * numpy.log(ids + 1.0))
    else:
        power = 1.0 - exponent
        values = (uniform * ((ids + 1.0) ** power - 1.0) + 1.0) ** (1.0 / power)
    return numpy.minimum(values.astype(numpy.int64) - 1, ids - 1)


def weights_of(ids, column, seed):
    """Normal weights of ids: a hash of column and id, by Box and Muller."""
    mixed = ids.astype(numpy.uint64) * numpy.uint64(0x9E3779B97F4A7C15) + numpy.uint64(column * 0x632BE59BD9B4E019 % 2**64 ^ seed)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> numpy.uint64(shift))) * numpy.uint64(factor)
    mixed ^= mixed >> numpy.uint64(31)
    first = ((mixed >> numpy.uint64(32)).astype(numpy.float64) + 1) / 2**32
    second = (mixed & numpy.uint64(0xFFFFFFFF)).astype(numpy.float64) / 2**32
    return numpy.sqrt(-2 * numpy.log(first)) * numpy.cos(2 * numpy.pi * second)


def schema_of(columns):
    """The text of the schema."""
    names = ", ".join(f"f{column}" for column in range(1, columns + 1))
    return f"# Written by generate.py.\nlabel = click\ncategorical = {names}\nnumeric = n1, n2\n"


def write_rows(output, options):
    """Writes header and rows."""
    random = numpy.random.default_rng([options.seed, options.part])
    columns = range(1, options.columns + 1)
    output.write("click," + ",".join(f"f{column}" for column in columns) + ",n1,n2\n")
    each = max(1, options.ids // options.columns)
    for begin in range(0, options.rows, _AT_ONCE):
        count = min(_AT_ONCE, options.rows - begin)
        ids = [zipf_ids(random, count, each, options.exponent) for _ in columns]
        numbers = random.normal(size=(2, count))
        logits = -2.5 + 0.5 * sum(weights_of(of_column, column, options.seed) for column, of_column in zip(columns, ids))
        logits += 0.3 * numbers[0] - 0.3 * numbers[1] ** 2
        clicks = random.random(count) < 1 / (1 + numpy.exp(-logits))
        cells = [clicks.astype(numpy.int64), *ids]
        rows = zip(*(column.tolist() for column in cells), *numbers.round(4).tolist())
        output.write("\n".join(",".join(map(str, row)) for row in rows) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", help="the CSV; FILE.schema is its schema")
    parser.add_argument("--rows", type=int, default=100000, help="default 100000")
    parser.add_argument("--ids", type=int, default=10000, help="of all columns together; default 10000")
    parser.add_argument("--columns", type=int, default=10, help="categorical columns; default 10")
    parser.add_argument("--exponent", type=float, default=1.1, help="of Zipf's law; default 1.1")
    parser.add_argument("--seed", type=int, default=1, help="of the model; default 1")
    parser.add_argument("--part", type=int, default=0, help="of the rows, such as 1 for a test set; default 0")
    options = parser.parse_args()
    if min(options.rows, options.ids, options.columns) < 1 or options.exponent <= 0 or min(options.seed, options.part) < 0:
        parser.error("expected rows, ids and columns of 1 or more, an exponent above 0, and no negative seed or part")
    try:
        with open(options.file, "w", encoding="utf-8") as output:
            write_rows(output, options)
        with open(options.file + ".schema", "w", encoding="utf-8") as output:
            output.write(schema_of(options.columns))
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
