#!/usr/bin/env python3
"""make_corpus.py [FOLDER]: writes the initial inputs of the fuzzers, made from valid frames and files, into subfolders of
FOLDER (default: the folder corpus beside this file). Inputs that revealed a defect (found-*) are kept.

The first byte of most inputs selects what is read, and how: see the fuzzers."""
import gzip
import json
import lzma
import pathlib
import random
import struct
import sys

KINDS = 55
# The numbers of steps: see packets.cpp.
DELIVER, DELIVER_ALL, FLIP, OVERWRITE, RESIZE, HOSTILE, TWICE, FIRST_CALL, LAST_STEP = 0, 1, 2, 3, 4, 5, 6, 7, 15
DOMAINS_OF_TWO, ONE_DOMAIN, LIBRARY_COPIES, ALL_COPIES, LANES, LITTLE_MEMORY = 1, 2, 4, 8, 16, 32


def frame(kind, table=0, records=(b"",), flags=0, origin=0, domain=0, operation=0):
    size = len(records[0])
    header = struct.pack("<HHIIIiiQ", kind, flags, table, len(records), size, origin, domain, operation)
    body = b"".join(records)
    return header + body + bytes(-len(body) % 8)


def hostile(packet, to, sender):
    return bytes([HOSTILE, to, sender]) + struct.pack("<H", len(packet)) + packet


def history(world, seed, steps, changes):
    """Calls of workers, and packets of their ranks, delivered unchanged or changed."""
    draw = random.Random(seed)
    text = bytearray([world])
    for _ in range(steps):
        step = draw.randint(FIRST_CALL, LAST_STEP)
        text += bytes([step, draw.randrange(3)]) + struct.pack("<H", draw.randrange(1 << 16))
        for _ in range(draw.randrange(4)):
            what = draw.choice([DELIVER, DELIVER, FLIP, OVERWRITE, RESIZE, TWICE]) if changes else DELIVER
            text += bytes([what, draw.randrange(256)])
            if what == FLIP:
                text += struct.pack("<HB", draw.randrange(200), 1 << draw.randrange(8))
            elif what == OVERWRITE:
                text += struct.pack("<HI", draw.randrange(200), draw.choice([0, 1, 2, 5, 0xffffffff, 0x7fffffff]))
            elif what == RESIZE:
                text += struct.pack("<H", draw.randrange(1 << 16))
            elif what == TWICE:
                text += bytes([draw.randrange(3), draw.randrange(3)])
        if draw.randrange(3) == 0:
            text.append(DELIVER_ALL)
    text.append(DELIVER_ALL)
    return bytes(text)


def every_kind(world, table, body):
    """One frame of each kind, about a key, followed by a body of the given length."""
    text = bytearray([world])
    for kind in range(1, KINDS):
        record = struct.pack("<Q", kind) + bytes(body)
        text += hostile(frame(kind, table, (record,), origin=1, domain=1), kind % 3, (kind + 1) % 3)
    return bytes(text)


def packets():
    worlds = {
        "alone": 0, "alone-copies": LIBRARY_COPIES, "alone-all-copies": ALL_COPIES | LANES, "two": DOMAINS_OF_TWO | LANES,
        "two-copies": DOMAINS_OF_TWO | LIBRARY_COPIES, "two-little": DOMAINS_OF_TWO | ALL_COPIES | LITTLE_MEMORY,
        "three": ONE_DOMAIN | LIBRARY_COPIES}
    for number, (name, world) in enumerate(worlds.items()):
        yield f"history-{name}", history(world, number, 60, False)
        yield f"changed-{name}", history(world, 100 + number, 60, True)
    for body in (0, 4, 8, 24):
        yield f"kinds-{body}", every_kind(LIBRARY_COPIES | DOMAINS_OF_TWO * (body // 8 % 2), body % 5, body)


def rings():
    message = struct.pack("<QQ", 8, 1) + b"a packet"
    gap = struct.pack("<QQ", 0, 0)
    filled = b"".join(bytes([4 * i, len(message)]) + message + struct.pack("<H", 64) for i in range(15))
    yield "host", b"\0" + filled + bytes([60, len(gap)]) + gap + bytes([0, 0]) + bytes([0, len(message)]) + message + b"\x80\0"
    yield "host-unused", b"\0" + bytes([0, 0]) + b"\xff\xff" + b"\xff" * 8
    places = [(0, 100), (128, 1000), (1152, 1024), (2176, 1024), (3200, 800), (4096, 512)]
    yield "rma", b"\1" + b"".join(struct.pack("<QQB", begin, size, 1) for begin, size in places)


def archives():
    for at in (0, 8):
        yield f"long-{at}", b"\1" + b"".join(struct.pack("<HB", at + i, 0x1f if i < 5 else 0) for i in range(8))
    for number in range(8):
        yield f"whole-{number}", bytes([number])
        yield f"changed-{number}", bytes([number]) + struct.pack("<HBHB", 0, 1, 9, 255)
        yield f"numbers-{number}", bytes([6, number % 6, 0]) + struct.pack("<HB", 47, 0x7f) * (number % 2)
        yield f"raw-{number}", bytes([number | 8]) + struct.pack("<Q", 3) + b"abc" + bytes(40)


GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "unit/checkpoint_golden/version-1/step-3"


def manifests():
    text = (GOLDEN / "manifest.json").read_bytes()
    yield "whole", b"\0" + text
    yield "repaired", b"\1" + text[33:]
    yield "nested", b"\1" + b'"tables": ' + b"[" * 3000


def checkpoints():
    for table in json.loads((GOLDEN / "manifest.json").read_text())["tables"]:
        [shard] = table["shards"]
        content = (GOLDEN / shard["file"]).read_bytes()[shard["offset"]:shard["offset"] + shard["bytes"]]
        for repaired in (0, 1):
            yield f"{table['name']}-{repaired}", bytes([repaired]) + content


def conversions():
    values = array("<f4", "(3, 2)", struct.pack("<6f", *range(6)))
    keys = array("<u8", "(3,)", struct.pack("<3Q", 1, 5, 2 ** 64 - 1))
    states = array("<f4", "(3, 1)", bytes(12))
    for number, arrays in enumerate(((values,), (values, states), (values, b"", keys), (values, states, keys))):
        sizes = struct.pack("<HH", len(values), len(arrays[1]) if len(arrays) > 1 else 0)
        yield f"arrays-{number}", bytes([number]) + sizes + b"".join(arrays)
    yield "name", b"\x40" + b"\5a/../" + struct.pack("<HH", len(values), 0) + values
    yield "line", b"\x80run-7\nf.npy\n--table\nfactors\n--keys\nk.npy\n--step=3\n--force\n"


def zstd(text):
    return b"\x28\xb5\x2f\xfd\x20" + bytes([len(text)]) + (1 | len(text) << 3).to_bytes(3, "little") + text


TEXT = b"one\r\ntwo two\n\nthree\tand\xc3\xa4\nlast"


def packed(text):
    yield "plain", text
    yield "gzip", gzip.compress(text, mtime=0)
    yield "xz", lzma.compress(text)
    yield "zstd", zstd(text)


def compressed():
    for name, data in packed(TEXT):
        yield name, b"\7" + data
        yield f"{name}-twice", b"\0" + data + data
        yield f"{name}-cut", b"\2" + data[:-3]
    yield "bzip2", b"\0BZh91AY&SY"


def text():
    for name, data in packed(TEXT * 3):
        yield name, b"\2\5" + data
    yield "mark", b"\1\1\xef\xbb\xbfmarked\n"
    yield "nul", b"\1\1a\nb\0c\n"


def ratings():
    yield "tabs", b"\2" + b"user\titem\trating\n1\t7\t3.5\n2\t7\t1e2\n1\t9\t-0\n"
    yield "commas", b"\3" + b"1,2,3,881250949\n5 , 18446744073709551615 , 1e-50 , 0\n"
    yield "blanks", b"\4" + b"  1 2 3.5\r\n\r\n2   2 4"
    yield "xz", b"\5" + lzma.compress(b"1 2 3\n4 5 6\n")
    yield "market", b"\4" + b"%%MatrixMarket matrix coordinate real general\n%\n\n3 4 3\n1 1 3.5\n3 4 -1\n2 1 2e0\n"
    yield "market_pattern", b"\2" + b"%%matrixmarket matrix coordinate pattern general\n2 2 2\n1 1\n2 2\n"


def bags_of_words():
    yield "blanks", b"\2" + b"3\n5\n4\n1 2 1\n1 5 3\n2 1 2\n3 4 1\n"
    yield "tabs", b"\1" + b"2\r\n3\r\n\r\n3\r\n1\t3\t1\r\n2\t1\t2147483647\r\n2\t1\t1"
    yield "xz", b"\3" + lzma.compress(b"1\n1\n1\n1 1 1\n")


def svm_files():
    yield "zero", b"\2" + b"+1 0:0.5 3:-2e-1\n-1\n 2.5\t2:1  4:+3 \r\n"
    yield "one", b"\x0a" + b"# none\n1 qid:7 2:1 # 3:1\n-1 1:1#\n"
    yield "xz", b"\3" + lzma.compress(b"1 1:1\n2 7:1e-60\n")


def triples():
    yield "tabs", b"\2a\tr\tb c\nb c\tr\ta\n"
    yield "blanks", b"\1a r b\n\n  b  r  a \r\n"
    yield "numbers", b"\0" + b"0\t1\t2\n1000\t10\t0\n"
    yield "gzip", b"\3" + gzip.compress(b"a r b\n" * 80, mtime=0)


def vocabularies():
    yield "counts", b"\0the\t12\nof\t7\nand\t0\n"
    yield "names", b"\0the\nof\nand so on\r\n"
    names = b"".join(struct.pack("<QI", count, len(name)) + name for count, name in ((12, b"the"), (7, b"name")))
    yield "message", b"\1" + names


def array(description, shape, data, version=1):
    """A .npy file."""
    header = f"{{'descr': '{description}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    start = 10 if version == 1 else 12
    header += b" " * (-(start + len(header) + 1) % 64) + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + data


def npy():
    yield "float", b"\0" + array("<f4", "(2, 3)", struct.pack("<6f", *range(6)))
    yield "double", b"\1" + array("<f8", "(3,)", struct.pack("<3d", *range(3)), 2)
    yield "int32", b"\2" + array("<i4", "(1, 2)", bytes(8))
    yield "int64", b"\3" + array("<i8", "(0, 5)", b"", 3)
    yield "uint64", b"\4" + array("<u8", "(2,)", bytes(16))
    yield "fortran", b"\0" + array("<f4", "(2,)", bytes(8)).replace(b"False", b"True ")


def word_vectors():
    numbers = struct.pack("<3f", 0.5, -1, 1e30)
    yield "text", b"\1" + b"2 3\nking 0.5 -1 1e30\nqueen 1 2 3\n"
    yield "binary", b"\1" + b"2 3\nking " + numbers + b"\nqueen " + numbers + b"\n"
    yield "xz", b"\3" + lzma.compress(b"1 2\nking 1 2\n")
    yield "analogies", b"\0: capital\nking queen man woman\n: gram\nking queen man child\n"
    yield "pairs", b"\0word 1,word 2,score\nking,queen,8.5\nman,child,1e0\n"


def number(value):
    text = bytearray()
    while value >= 128:
        text.append(value % 128 + 128)
        value //= 128
    return bytes([*text, value])


def signed(value):
    return number(2 * value if value >= 0 else -2 * value - 1)


def trace(rank, ranks, start, events):
    """The file of a rank: a header, a table, events of its keys, a phase, a band, a note and the end."""
    def text(value):
        return number(len(value)) + value.encode()
    header = json.dumps({"lapse": "0", "rank": rank, "hosts": [0] * ranks, "host": "h", "start": start})
    table = json.dumps({"id": 1, "name": "t", "keys": 9, "home": "hash", "value_bytes": 8, "content_bytes": 8,
                        "domains": list(range(ranks))})
    data = b"LAPSETR1\x01" + text(header) + b"\x07" + number(0) + signed(-3) + signed(3) + b"\x02" + number(0) + text(table) + b"\x03\x01"
    data += b"\x04" + number(1) + text("run_workers")
    key = 0
    for kind, ticks, of in events:
        data += bytes([kind]) + number(ticks) + (b"" if kind == 9 else signed(of - key))
        key = key if kind == 9 else of
    data += b"\x05" + number(1) + b"\x0a" + number(1) + number(5) + text("epoch 1") + b"\x0b" + number(0) + text("a") + text("b")
    return data + b"\x06" + number(0) + b"\x08" + number(1)


def traces():
    first = [(0x81, 1, 3), (0x81, 1, 4), (0x91, 5, 3), (9, 1, 0), (0x80, 7, 3), (0x93, 9, 3), (0x92, 2, 3)]
    second = [(0x81, 1, 5), (0x89, 3, 3), (0x84, 1, 3), (0x81, 9, 3), (0x90, 1, 3), (0x91, 1, 3), (9, 1, 0), (0x88, 2, 3), (0x82, 3, 4)]
    yield "one", b"\0" + trace(0, 1, 100, first)
    files = [trace(0, 2, 100, first), trace(1, 2, 90, second)]
    yield "two", b"\1" + struct.pack("<H", len(files[0])) + b"".join(files)
    files = [trace(rank, 3, 100, second) for rank in range(3)]
    yield "three", b"\2" + b"".join(struct.pack("<H", len(file)) + file for file in files[:2]) + files[2]


def options():
    yield "server", b"\0domain=2\nhelping=off\nprogress_spin=0\nprogress_sleep_min=7\neager_bytes=300\nlog_level=debug\nno=1\n"
    yield "manager", b"\1technique=nups\nnups_factor=1e3\ntiming_quantile=0.5\ntrace_keys=factors:5,7;biases:0\nsampling_scheme=pool\n"
    yield "environment", b"\2LAPSE_DOMAIN=rank\nLAPSE_ROOT=/usr\nADAPM_TIMING_SMOOTHING=0.1\nLAPSE_LOG_LEVLE=info\nLAPSE_OTHER=x\n"
    yield "file", b"\3# all jobs\nlapse.domain = 2 # two\r\nadapm.technique=nups\n\nlapse.rma =\n---\nlapse.domain=host\nadapm.x=y\n"


def graph_options():
    yield "line", b"\0train.txt\n--dim\n16\n--model\ncomplex\n--rate\n0.1\n--technique\nlocalize\n"
    yield "help", b"\0--help\n"
    yield "file", b"\1# a comment\ndim = 16\nmodel = complex\n\n[section]\nworkers = [2, 0, 1]\nreciprocal = true\nrate = \"0.5\"\n"


def factorization_options():
    yield "line", b"--rank\n8\nratings.tsv\n--workers\n2,0,1\n--epochs=3\n--seed\n18446744073709551615\n"


def words_options():
    yield "line", b"a.txt\nb.txt\n--min-count\n3\n--negatives=7\n--separate-negatives\n--optimiser\nadagrad\n--output-format\ntext\n--output\no\n"


CORPORA = (packets, rings, archives, manifests, checkpoints, conversions, compressed, text, ratings, bags_of_words, svm_files, triples, vocabularies, npy, word_vectors, traces, options,
           graph_options, factorization_options, words_options)


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent / "corpus"
    for corpus in CORPORA:
        subfolder = folder / corpus.__name__
        subfolder.mkdir(parents=True, exist_ok=True)
        for old in subfolder.iterdir():
            if not old.name.startswith("found-"):
                old.unlink()
        for name, data in corpus():
            (subfolder / name).write_bytes(data)


if __name__ == "__main__":
    main()
