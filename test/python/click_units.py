"""apps/click_prediction without tables: schema, reader, statistics, metrics."""
import gzip
import lzma
import pathlib

import numpy

from click_prediction import metrics
from click_prediction.batch_encoder import BatchEncoder
from click_prediction.batch_source import BatchSource
from click_prediction.data_statistics import DataStatistics
from click_prediction.sample_files import SampleFiles, Split
from click_prediction.schema import Schema
from support import refused
from torch_common.errors import FileError
from torch_support import FOLDER

HERE = pathlib.Path(FOLDER).parent / "click_units"
SCHEMA = "label = y\npositive = yes\nnegative = no\nmissing = ?\ncategorical = color\nnumeric = size, sum\nlogarithm = sum\nlist = tags\n"
HEADER = "color,size,tags,sum,y\n"


def written(name, content, opens=open):
    HERE.mkdir(parents=True, exist_ok=True)
    with opens(HERE / name, "wb") as file:
        file.write(content if isinstance(content, bytes) else content.encode())
    return str(HERE / name)


def schema(text=SCHEMA):
    return Schema("clicks.schema", text)


def rows_of(path, part=0, parts=1, text=SCHEMA, **named):
    return list(SampleFiles(schema(text), [path], **named).pieces(part, parts))


def test_schema():
    assert schema(SCHEMA + "hash-buckets = 7\n").hash_buckets == 7
    for text, part in (("label\n", ":1: 'label', expected a line"), ("lable = y\n", ":1: there is no 'lable'"),
                       ("label = y\nlabel = x\n", ":2: label is set in line 1"), ("numeric = a\n", "no line `label"),
                       (SCHEMA + "header = maybe\n", ":9: header is 'maybe'"), (SCHEMA + "separator = ab\n", "separator is 'ab'"),
                       ("label = y\npositive = 1\n", "positive without the other"), ("group = u\n", "group without the others"),
                       (SCHEMA + "header = false\n", "expected names of all columns"), (SCHEMA + "hash-buckets = -1\n", "integer from 0"),
                       (SCHEMA + "crosses = color\n", "crosses has 'color'"), ("label = y\nnumeric = a,,b\n", "an empty name"),
                       ("label = y\ngroup = u\nitem = i\ntarget = 3\n", "label applies only without group")):
        refused(FileError, part, schema, text)
    refused(FileError, "No such file", Schema, "/nowhere/x.schema")
    names = ("color", "size", "tags", "sum", "y")
    refused(FileError, "column 'other' is not in clicks.schema", schema().resolve, (*names, "other"), "a.csv")
    refused(FileError, "there is no column 'tags'", schema().resolve, ("color", "size", "sum", "y"), "a.csv")
    refused(FileError, "'tags', which is not categorical", schema(SCHEMA + "crosses = color * tags\n").resolve, names, "a.csv")


def test_rows():
    lines = "red,1.5,a b,0,yes\n\"blue, dark\",?,,-3,no\n\nred, 2 ,b,,yes\n"
    expected = None
    for name, opens in (("plain.csv", open), ("packed.csv.xz", lzma.open), ("packed.csv.gz", gzip.open)):
        for content in (HEADER + lines, ("\ufeff" + HEADER + lines.rstrip("\n")), (HEADER + lines).replace("\n", "\r\n")):
            rows, = rows_of(written(name, content, opens))
            assert rows.labels.tolist() == [1, 0, 1] and rows.list_lengths.tolist() == [[2], [0], [1]]
            assert rows.ids[0] == rows.ids[2] != rows.ids[1] and rows.list_ids[1] == rows.list_ids[2] != rows.list_ids[0]
            assert numpy.isnan(rows.numbers[1, 0]) and rows.numbers[2, 0] == 2 and numpy.isnan(rows.numbers[2, 1])
            assert numpy.isclose(rows.numbers[1, 1], -numpy.log(4)) and (rows.ids >= 0).all()
            assert expected is None or (rows.ids == expected).all()
            expected = rows.ids
    taken = rows.take(numpy.array([2, 0]))
    assert taken.list_ids.tolist() == [*rows.list_ids[2:], *rows.list_ids[:2]] and taken.labels.tolist() == [1, 1]
    buckets, = rows_of(written("plain.csv", HEADER + lines), text=SCHEMA + "hash-buckets = 5\n")
    assert (buckets.ids < 5).all() and (buckets.list_ids < 5).all()
    rows, = rows_of(written("other.csv", "y,x1,x2\n1,2,3\n0,1,nan\n"), text="label = y\nsums = x: x*\nmissing = nan\n")
    assert rows.numbers[0, 0] == 5 and numpy.isnan(rows.numbers[1, 0])
    rows, = rows_of(written("plain.tsv", "1\tq\t0\n"), text="label = y\nheader = false\nseparator = tab\ncolumns = n, c, y\nnumeric = n\n"
                                                            "categorical = c\n")
    assert rows.numbers.tolist() == [[1]] and rows.labels.tolist() == [0]


def test_bad_rows():
    for lines, part in (("red,1,a,2,yes\nred,x,a,2,no\n", ":3:2: size: 'x', expected a number"),
                        ("red,nan,a,2,no\n", ":2:2: size: 'nan', expected a finite number"),
                        ("red,1,a,1e99,no\n", ":2:4: sum: '1e99', expected a finite"), ("red,1,a,2\n", ":2: 4 cells, expected 5"),
                        ("red,1,a,2,maybe\n", ":2:5: y: label 'maybe', expected no or yes")):
        for opens in (open, lzma.open):
            refused(FileError, "bad.csv" + part, rows_of, written("bad.csv", HEADER + lines, opens))
        # The line is right in a part that does not begin at the file's begin, too.
        many = HEADER + "red,1,a,2,yes\n" * 50 + lines
        line = int(part.split(":")[1]) + 50
        refused(FileError, f"bad.csv:{line}:", rows_of, written("bad.csv", many), 3, 4)
    refused(FileError, "a byte that is not UTF-8", rows_of, written("bad.csv", HEADER.encode() + b"r\xffd,1,a,2,yes\n"))
    refused(FileError, "is empty", rows_of, written("bad.csv", ""))
    refused(FileError, "there is no column 'tags'", rows_of, written("bad.csv", "color,size,sum,y\nred,1,2,yes\n"))
    refused(FileError, "two columns have the name 'y'", rows_of, written("bad.csv", "y,y\n1,0\n"))
    packed = lzma.compress((HEADER + "red,1,a,2,yes\n" * 5000).encode())
    refused(FileError, "damaged or cut off", rows_of, written("cut.csv", packed[:-40]))
    refused(FileError, "is zstd", rows_of, written("bad.csv", b"\x28\xb5\x2f\xfd123"))
    refused(FileError, "no regular file", rows_of, "/dev/null")


def test_parts():
    path = written("parts.csv", HEADER + "".join(f"c{number},{number},t,1,{'yes' if number % 3 else 'no'}\n" for number in range(6000)))
    packed = written("parts.csv.gz", pathlib.Path(path).read_bytes(), gzip.open)
    for file in (path, packed):
        for parts in (1, 2, 3, 7):
            for numbered in (False, True):
                found = [list(SampleFiles(schema(), [file]).pieces(part, parts, numbered)) for part in range(parts)]
                numbers = numpy.concatenate([rows.numbers[:, 0] for part in found for rows in part])
                assert sorted(numbers.tolist()) == list(range(6000))
                if numbered:
                    lines = numpy.concatenate([rows.lines for part in found for rows in part])
                    assert (lines == numbers + 2).all()
    more_than_lines = [list(SampleFiles(schema(), [written("one.csv", HEADER + "red,1,a,2,yes\n")]).pieces(part, 9)) for part in range(9)]
    assert sum(len(rows) for part in more_than_lines for rows in part) == 1
    # Parts that begin where a line does.
    even = written("even.csv", HEADER + "".join(f"red,{number},a{'b' * 8},2,no\n" for number in range(10, 17)))
    assert len({len(line) for line in pathlib.Path(even).read_text(encoding="utf-8").splitlines()}) == 1
    for parts in (2, 4, 8):
        found = [rows.numbers[:, 0].tolist() for part in range(parts) for rows in SampleFiles(schema(), [even]).pieces(part, parts)]
        assert sum(found, []) == list(range(10, 17))
    held_out, rest = (SampleFiles(schema(), [path], keep=Split(0.3, 5, inside)) for inside in (True, False))
    counts = [sum(len(rows) for rows in files.pieces(0, 1)) for files in (held_out, rest)]
    assert sum(counts) == 6000 and 1600 < counts[0] < 2000
    chunks = [rows.numbers[:, 0].tolist() for rows in rest.chunks(0, 2, 500)]
    assert chunks[2:] == [rows.numbers[:, 0].tolist() for rows in rest.chunks(0, 2, 500, skip=2)]
    assert {len(chunk) for chunk in chunks[:-1]} == {500}


def test_groups():
    text = "separator = tab\nheader = false\ncolumns = user, area\ngroup = user\nitem = area\ntarget = 9\n"
    path = written("visits.tsv", "1\t4\n1\t9\n2\t9\n3\t4\n3\t5\n")
    rows, = rows_of(path, text=text)
    assert rows.labels.tolist() == [1, 1, 0] and rows.list_lengths.tolist() == [[1], [0], [2]] and rows.lines.tolist() == [1, 3, 4]
    assert rows.list_ids[0] == rows.list_ids[1]
    assert sum(len(rows) for part in range(3) for rows in rows_of(path, part, 3, text)) == 3
    refused(FileError, "visits.tsv:2: 1 cells, expected 2", rows_of, written("visits.tsv", "1\t4\n1\n"), text=text)


def test_statistics_and_batches():
    random = numpy.random.default_rng(3)
    values = random.normal(5, 2, 3000)
    path = written("numbers.csv", "color,size,tags,sum,y\n" + "".join(
        f"c{at % 4},{value if at % 10 else '?'},a,{at % 3},{'yes' if at % 2 else 'no'}\n" for at, value in enumerate(values)))
    files = SampleFiles(schema(), [path])
    whole, parts = DataStatistics(2), [DataStatistics(2), DataStatistics(2)]
    for at, rows in enumerate(files.pieces(0, 1)):
        whole.add(rows, 10000, random)
        parts[at % 2].add(rows, 10000, random)
    known = values[numpy.arange(3000) % 10 != 0].astype(numpy.float32)
    assert numpy.isclose(whole.means[0], known.mean()) and numpy.isclose(whole.deviations[0], known.std()) and whole.base_rate == 0.5
    merged = parts[0].merged(parts[1:])
    assert numpy.allclose(merged.means, whole.means) and numpy.allclose(merged.deviations, whole.deviations)
    edges = whole.edges(10)
    shares = numpy.bincount(numpy.searchsorted(edges[0], known, "right"))
    assert len(edges[0]) == 9 and shares.min() > 0.08 * len(known) and len(edges[1]) == 2  # Three values, three bins.
    encoder = BatchEncoder(files.features, 0, True, True)
    encoder.set_statistics(whole.means, whole.deviations, edges)
    source = BatchSource(files, encoder, 0, 1, 64, 640, 1)
    batches = list(source.epoch(1))
    assert sum(map(len, batches)) == 3000 and len(batches) == 47
    numbers = numpy.concatenate([batch.numbers.numpy() for batch in batches])
    assert abs(numbers[:, 0].mean()) < 0.02 and (numbers[:, 0] == 0).sum() == 300
    batch = batches[0]
    assert batch.wide_ids.shape == (64 * 3 + 64,) and batch.deep_ids.shape == (64 * 3 + 64,) and batch.list_slots.tolist() == list(range(64))
    for skip in (1, 10, 25):
        for one, other in zip(batches[skip:], source.epoch(1, skip)):
            assert (one.numbers == other.numbers).all() and (one.wide_ids == other.wide_ids).all()
    assert not all((one.numbers == other.numbers).all() for one, other in zip(batches, source.epoch(2)))


def test_metrics():
    random = numpy.random.default_rng(4)
    for _ in range(20):
        logits, labels = random.integers(-4, 4, 50).astype(numpy.float32), random.integers(0, 2, 50).astype(numpy.float32)
        positive, negative = logits[labels > 0], logits[labels == 0]
        pairs = [(a > b) + 0.5 * (a == b) for a in positive for b in negative]
        assert numpy.isclose(metrics.auc(logits, labels), numpy.mean(pairs))
        probabilities = metrics.sigmoid(logits)
        assert numpy.isclose(metrics.log_loss(logits, labels),
                             -numpy.mean(labels * numpy.log(probabilities) + (1 - labels) * numpy.log(1 - probabilities)))
    assert numpy.isnan(metrics.auc(logits, numpy.ones(50))) and numpy.isnan(metrics.log_loss(logits[:0], labels[:0]))
    probabilities = numpy.repeat([0.1, 0.6], 500)
    table = metrics.calibration(probabilities, (numpy.arange(1000) % 10 < probabilities * 10).astype(float), 2)
    assert [row.samples for row in table] == [500, 500] and metrics.expected_calibration_error(table) < 1e-9
    assert numpy.isclose(metrics.expected_calibration_error(metrics.calibration(probabilities, numpy.ones(1000), 2)), 0.65)
