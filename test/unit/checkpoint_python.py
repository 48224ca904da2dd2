#!/usr/bin/env python3
"""checkpoint_python.py TOOL GOLDEN MODULE_FOLDER: compares the Python module with the program and its conversions.

TOOL is lapse-checkpoint, GOLDEN a folder of checkpoints. Exits with 77 without NumPy."""
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import warnings

SKIPPED = 77
try:
    import numpy
except ImportError:
    print("SKIPPED: there is no NumPy for", sys.executable)
    sys.exit(SKIPPED)
try:
    import h5py
except ImportError:
    h5py = None
    print("SKIPPED in part: there is no h5py, files of HDF5 are not read")

TOOL, GOLDEN = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.insert(0, sys.argv[3])
import lapse_checkpoint  # noqa: E402

failures = 0


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print("FAILED:", what)


def equal(rows, keys, values, states=None):
    return (numpy.array_equal(rows.keys, keys) and numpy.array_equal(rows.values, values)
            and (states is None or numpy.array_equal(rows.states, states)))


def convert(*arguments):
    subprocess.run([TOOL, "convert", *map(str, arguments)], check=True)


def safetensors(path):
    """The arrays of a file, read by the description of the format."""
    content = path.read_bytes()
    [size] = struct.unpack_from("<Q", content)
    types = {"F32": "<f4", "F64": "<f8", "I32": "<i4", "I64": "<i8", "U64": "<u8"}
    arrays, used = {}, []
    for name, entry in json.loads(content[8:8 + size]).items():
        begin, end = entry["data_offsets"]
        used.append((begin, end))
        arrays[name] = numpy.frombuffer(content[8 + size + begin:8 + size + end], types[entry["dtype"]]).reshape(entry["shape"])
        check(begin % arrays[name].itemsize == 0, f"{name} is aligned")
    used.sort()
    check([begin for begin, _ in used] == [0] + [end for _, end in used][:-1], "arrays have no gaps")
    check(used[-1][1] == len(content) - 8 - size, "the file ends with its arrays")
    return arrays


def compare_text(checkpoint):
    """Compares with the program's output."""
    for name, table in checkpoint.tables.items():
        rows = table.read()
        shown = subprocess.run([TOOL, "extract", GOLDEN, "--table", name, "--state"], check=True, capture_output=True, text=True)
        lines = [line.split("\t") for line in shown.stdout.splitlines()]
        check(len(lines) == len(rows.keys) == table.entries, f"{name} has {table.entries} keys")
        for (key, *fields), own, value, state in zip(lines, *rows):
            shown_value, shown_state = ([float(number) for number in field.split()] for field in [*fields, ""][:2])
            check(int(key) == own and shown_value == [*value] and shown_state == [*state], f"{name}: key {own}")
            [(found, (again, state_again))] = table.rows([own, 7]).items()
            check(found == own and (again == value).all() and (state_again == state).all(), f"{name}: key {own} alone")


def convert_all(folder, rows):
    convert(GOLDEN, folder / "v.npy", "--table", "factors", "--keys", folder / "k.npy", "--state", folder / "s.npy")
    values, keys, states = (numpy.load(folder / f"{part}.npy") for part in "vks")
    check(equal(rows, keys, values, states), ".npy")
    convert(GOLDEN, folder / "f.safetensors", "--table", "factors")
    arrays = safetensors(folder / "f.safetensors")
    check(equal(rows, *(arrays[f"factors.{part}"] for part in ("keys", "values", "state"))), ".safetensors")
    convert(GOLDEN, folder / "n.safetensors", "--table", "factors", "--no-state")
    check(set(safetensors(folder / "n.safetensors")) == {"factors.keys", "factors.values"}, "--no-state")
    shown = subprocess.run([TOOL, "convert", GOLDEN, folder / "f.h5", "--table", "factors"], capture_output=True, text=True)
    if "built without HDF5" in shown.stderr:
        print("SKIPPED in part: the program was built without HDF5")
    elif h5py is not None:
        with h5py.File(folder / "f.h5") as file:
            check(equal(rows, *(file[f"factors/{part}"][...] for part in ("keys", "values", "state"))), ".h5")


def convert_back(folder):
    """More rows than a block has, of each type, dense and sparse."""
    random = numpy.random.default_rng(1)
    for step, (element, columns) in enumerate((("f4", 1), ("f8", 3), ("i4", 5), ("i8", 2))):
        values = random.integers(-2**31, 2**31, (60_000, columns)).astype(element)
        states = values[:, :1] + 1
        keys = numpy.cumsum(random.integers(1, 1000, len(values))).astype("u8")
        numpy.save(folder / "values.npy", values if columns > 1 else values[:, 0])
        numpy.save(folder / "states.npy", states)
        numpy.save(folder / "keys.npy", keys)
        made = folder / "made"
        convert(folder / "values.npy", made, "--step", step, "--table", "weights", "--rule", "adagrad", "--state", folder / "states.npy")
        table = lapse_checkpoint.open(made, step).tables["weights"]
        check(not table.sparse and table.keys == len(values) and table.update_rule == "adagrad", "a dense table")
        check(equal(table.read(), numpy.arange(len(values)), values, states), f"{element}: dense values")
        convert(folder / "values.npy", made, "--step", step, "--table", "w", "--keys", folder / "keys.npy", "--force")
        sparse = lapse_checkpoint.open(made).tables
        check(set(sparse) == {"w"} and sparse["w"].sparse and equal(sparse["w"].read(), keys, values), f"{element}: sparse values")
        convert(made, folder / "all.safetensors", "--force")
        arrays = safetensors(folder / "all.safetensors")
        check(set(arrays) == {"w.keys", "w.values"} and equal(sparse["w"].read(), arrays["w.keys"], arrays["w.values"]), "many rows")
        check(table.not_finite == 0 and lapse_checkpoint.open(made).not_finite == 0, f"{element}: finite")
        if element[0] == "f":
            ill = values.copy()
            ill[::1000, -1] = numpy.inf
            ill[7, 0] = numpy.nan
            numpy.save(folder / "values.npy", ill)
            convert(folder / "values.npy", folder / "ill", "--step", step, "--table", "w")
            check(lapse_checkpoint.open(folder / "ill").tables["w"].not_finite == 61, f"{element}: not finite")
            check(lapse_checkpoint.open(folder / "ill").not_finite == 61, f"{element}: not finite")
        if h5py is not None and (folder / "f.h5").exists():
            convert(made, folder / "all.hdf5", "--force")
            with h5py.File(folder / "all.hdf5") as file:
                check(equal(sparse["w"].read(), file["w/keys"][...], file["w/values"][...]), "many rows of HDF5")
    convert(folder / "values.npy", made, "--step", 1, "--table", "later", "--force")
    newest = lapse_checkpoint.open(made)
    check(newest.step == 1 and set(newest.tables) == {"later"}, "the newest is the one that was written last")
    shutil.copytree(GOLDEN / "step-3", made / "step-4")
    (made / "step-5").mkdir()
    (made / "step-5" / "manifest.json").write_bytes(b"broken")
    try:
        lapse_checkpoint.open(made)
        check(False, "a manifest that cannot be read is passed over")
    except lapse_checkpoint.CheckpointError:
        pass


def refuse_damage(folder):
    """Changes each byte of each file, except those between shards."""
    if lapse_checkpoint.xxhash is None:
        print("SKIPPED in part: there is no xxhash, damage is not looked for")
        return
    shutil.copytree(GOLDEN, folder)
    manifest = json.loads((GOLDEN / "step-3/manifest.json").read_text())
    parts = [shard for table in manifest["tables"] for shard in table["shards"]] + [manifest["global"], *manifest["per_worker"]]
    used = {(part["file"], part["offset"] + i) for part in parts for i in range(part["bytes"])}
    for path in sorted((GOLDEN / "step-3").rglob("*")):
        content = path.read_bytes() if path.is_file() else b""
        copy = folder / path.relative_to(GOLDEN)
        for at in range(len(content)):
            if path.suffix == ".shards" and (path.name, at) not in used:
                continue
            changed = content[:at] + bytes([content[at] ^ 1 << at % 8]) + content[at + 1:]
            copy.write_bytes(changed)
            try:
                lapse_checkpoint.open(folder).verify()
                check(False, f"{path.name}: byte {at} changed, and nothing is noticed")
            except lapse_checkpoint.CheckpointError:
                pass
        if content:
            copy.write_bytes(content)
    lapse_checkpoint.open(folder).verify()


def refuse_records(folder):
    """Manifests with correct checksums that list invalid shards or blobs."""
    if lapse_checkpoint.xxhash is None:
        return
    text = (GOLDEN / "step-3/manifest.json").read_text()
    (folder / "step-3").mkdir(parents=True)
    for of in (lambda manifest: manifest["tables"][0]["shards"][0], lambda manifest: manifest["global"]):
        for name, value in (("file", None), ("file", 7), ("bytes", None), ("bytes", "8"), ("offset", -8)):
            manifest = json.loads(text)
            record = of(manifest)
            record.pop(name) if value is None else record.update({name: value})
            body = json.dumps(manifest, indent=2).split("\n", 2)[2].encode()
            first = f'{{"checksum": "{lapse_checkpoint.xxhash.xxh3_64_hexdigest(body)}",\n'
            (folder / "step-3/manifest.json").write_bytes(first.encode() + body)
            try:
                lapse_checkpoint.open(folder)
                check(False, f"a record with {name} {value!r} is accepted")
            except lapse_checkpoint.CheckpointError:
                pass


def main():
    checkpoint = lapse_checkpoint.open(GOLDEN)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        checkpoint.verify()
    check(bool(caught) == (lapse_checkpoint.xxhash is None), "a warning where checksums are not verified")
    check(lapse_checkpoint.steps(GOLDEN) == [3] and checkpoint.ranks == 2 and checkpoint.clocks == [4, -1], "the manifest")
    check(checkpoint.global_blob() == b"of the application" and checkpoint.worker_blobs() == [b"of", b""], "blobs")
    compare_text(checkpoint)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        convert_all(folder, checkpoint.tables["factors"].read())
        convert_back(folder)
        refuse_damage(folder / "copy")
        refuse_records(folder / "records")
    sys.exit(1 if failures else 0)


main()
