"""Saved files, changed in more than 20,000 ways: a usable model or a ModelFileError, nothing else.

Changing bytes alone would only test the checksums. So most mutations repair lengths and checksums
afterwards and aim at one layer: the bytes of header or payload, the JSON of the header, the table
of arrays, single elements of arrays, or the arrays of the tree. Whatever loads is then used: rows
walk down the tree, the text of every node is written, the random state is drawn from.

All is seeded by the number of the case, so a failure can be repeated: `outcome(name, case)`. A quarter of
the cases runs with every test, ``pytest -m slow`` runs all.
"""

import io
import json
import random
import re
import struct
import sys
import time
import tracemalloc
import zlib
from collections import Counter
from functools import cache

import numpy as np
import pytest

from arboretum.errors import ModelFileError
from arboretum.io import native
from arboretum.io.container import read, write
from arboretum.io.native import load
from arboretum.io.values import encode
from arboretum.structure.tree import MULTIWAY, SUBSET, Tree
from tests.io.test_native import SCHEMA, RandomTreeClassifier, saved
from tests.structure.test_state import format_1

try:
    import resource
except ImportError:  # Windows
    resource = None

EDGES = [0, 1, -1, 2, 3, 7, 31, 32, 127, 128, 255, 256, 624, 2**15, 2**16, 2**31 - 1, 2**31]
EDGES += [2**32 - 1, 2**32, 2**53, 2**61, 2**62, 2**63 - 1, 2**63, 2**64 - 1]
EDGES += [-2, -128, -(2**31), -(2**63)]
FLOATS = [0.0, -0.0, 0.5, 1.0, 2.0, -1.0, 1e300, 5e-324, np.nan, np.inf, -np.inf]


# ---------------------------------------------------------------------- files to start from
@pytest.fixture(autouse=True)
def _known_to_arboretum(monkeypatch):
    monkeypatch.setitem(native.ESTIMATORS, "RandomTreeClassifier", RandomTreeClassifier.__module__)


@cache
def originals() -> list[bytes]:
    options = {"a": (1, [2.5, None]), 3: float("inf"), "big": 2**100, "scalar": np.float32(0.5)}
    return [
        saved(RandomTreeClassifier(0).fit(0, surrogates=False)),
        saved(RandomTreeClassifier(4, None, options).fit(1, surrogates=False)),
        saved(RandomTreeClassifier(8, np.arange(3), None, np.random.RandomState(0)).fit(2)),
        saved(RandomTreeClassifier(16, ("x",), {}, np.random.default_rng(0)).fit(3)),
        in_format_1(RandomTreeClassifier(8).fit(4)),
    ]


def in_format_1(model: RandomTreeClassifier) -> bytes:
    file = io.BytesIO()
    state = {"tree": format_1(model.tree_), "classes": model.classes_}
    write(file, {**read(saved(model)), "format": 1, "state": encode(state, "the state")})
    return file.getvalue()


def split(data: bytes) -> tuple[bytes, bytes]:
    """Return header and payload."""
    header_size, payload_size = struct.unpack_from("<QQ", data, 16)
    return data[40 : 40 + header_size], data[len(data) - payload_size :]


def seal(header: bytes, payload: bytes, version: int = 1, **wrong: int) -> bytes:
    """Put a file together with right lengths and checksums, save for those given."""
    lengths = (
        wrong.get("header_size", len(header)) % 2**64,
        wrong.get("payload_size", len(payload)) % 2**64,
    )
    checks = (zlib.crc32(header), zlib.crc32(payload))
    prefix = struct.pack("<8sIIQQI", b"ARBORETM", version, checks[0], *lengths, checks[1])
    body = prefix + struct.pack("<I", zlib.crc32(prefix)) + header
    return body + bytes(-len(body) % 64) + payload


# ---------------------------------------------------------------------- mutations: bytes
def changed_bytes(rng: random.Random, data: bytes) -> bytes:
    """Flip bits, overwrite, cut, insert, delete, repeat or swap."""
    changed = bytearray(data)
    a = rng.randrange(len(data) + 1)
    b = min(len(data), a + rng.choice([1, 2, 4, 8, 64, 500]))
    way = rng.randrange(7)
    if way == 0:
        for _ in range(rng.choice([1, 1, 2, 8])):
            changed[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    elif way == 1:
        filler = rng.choice([b"\0", b"\xff", b"[", b'"', b"9", rng.randbytes(1)])
        changed[a:b] = filler * (b - a)
    elif way == 2:
        del changed[a:]
    elif way == 3:
        changed[a:a] = rng.randbytes(b - a)
    elif way == 4:
        del changed[a:b]
    elif way == 5:
        changed[a:a] = changed[a:b]
    else:
        c = rng.randrange(len(data) + 1)
        changed[a:b], changed[c : c + b - a] = data[c : c + b - a], data[a:b]
    return bytes(changed)


def raw(rng: random.Random, data: bytes) -> bytes:
    return changed_bytes(rng, data)


def header_bytes(rng: random.Random, data: bytes) -> bytes:
    header, payload = split(data)
    return seal(changed_bytes(rng, header), payload)


def payload_bytes(rng: random.Random, data: bytes) -> bytes:
    header, payload = split(data)
    changed = bytearray(changed_bytes(rng, payload))
    if rng.random() < 0.7:  # keep the length, so that the arrays are reached
        changed = (changed + payload)[: len(payload)]
    return seal(header, bytes(changed))


def prefix(rng: random.Random, data: bytes) -> bytes:
    header, payload = split(data)
    name = rng.choice(["version", "header_size", "payload_size"])
    value = rng.choice([*EDGES, len(data), len(header) + 1, len(payload) - 1])
    return seal(header, payload, **{name: value % 2**32 if name == "version" else value})


# ---------------------------------------------------------------------- mutations: the header
def nonsense(rng: random.Random) -> object:
    """Return a JSON value nobody asked for."""
    return rng.choice(
        [
            *(None, True, False, "", "x", "$", "nan", "0x10000000000000000", "os.system"),
            *([], {}, [[]], [0], [1.5, "x"], {"a": 1}, "y" * 1000, list(range(100))),
            *({"$array": rng.randrange(40)}, {"$tuple": [1]}, {"$dict": [[1, 2]]}, {"$x": 0}),
            *({"$float": "inf"}, {"$int": hex(2**70)}, {"$text": {"$array": 0}}),
            *(rng.choice(EDGES), rng.choice(EDGES), float(rng.choice(EDGES)), rng.random(), 1e308),
        ]
    )


def places(value: object) -> list[tuple]:
    """Return every (container, key) of a nested JSON value."""
    found, stack = [], [value]
    while stack:
        container = stack.pop()
        if isinstance(container, dict):
            keys: list = list(container)
        elif isinstance(container, list):
            keys = list(range(len(container)))
        else:
            continue
        found += [(container, key) for key in keys]
        stack += [container[key] for key in keys]
    return found


def header_value(rng: random.Random, data: bytes) -> bytes:
    """Replace, delete, move or repeat any value of the header."""
    text, payload = split(data)
    header = json.loads(text)
    for _ in range(rng.choice([1, 1, 1, 3])):
        every = places(header)
        # every part of the document gets its share, not just the table and the long lists
        document = header.get("document")
        parts = [header, document, *(document.values() if isinstance(document, dict) else ())]
        container, key = rng.choice(places(rng.choice(parts)) or every)
        way = rng.randrange(6)
        if way == 0:
            del container[key]
        elif way == 1:
            other, other_key = rng.choice(every)
            copy = json.dumps(other[other_key])
            container[key] = json.loads(copy)
        elif way == 2 and isinstance(container, list):
            container.insert(key, json.loads(json.dumps(container[key])))
        elif way == 3 and isinstance(container, dict):
            container[rng.choice(["x", "$array", "$tuple", "$objects"])] = container.pop(key)
        else:
            container[key] = nonsense(rng)
    return seal(json.dumps(header).encode(), payload)


def table_entry(rng: random.Random, data: bytes) -> bytes:
    """Change dtype, shape or offset of arrays; now and then let the payload follow."""
    text, payload = split(data)
    header = json.loads(text)
    dtypes = ["bool", "int8", "uint8", "int32", "uint32", "int64", "float32", "float64"]
    dtypes += ["object", "<f8", "complex128", ""]
    for _ in range(rng.choice([1, 1, 2])):
        entry = rng.choice(header["arrays"])
        way = rng.randrange(5)
        if way == 0:
            entry["dtype"] = rng.choice(dtypes)
        elif way == 1:
            entry["shape"] = [rng.choice(EDGES) for _ in range(rng.randrange(4))]
        elif way == 2 and entry["shape"]:
            entry["shape"][rng.randrange(len(entry["shape"]))] += rng.choice([-1, 1, 2**32, 2**63])
        elif way == 3:
            entry["shape"] = rng.choice([entry["shape"][::-1], [*entry["shape"], 1], []])
        else:
            entry["offset"] = rng.choice([*EDGES, entry["offset"] + 64, entry["offset"] - 64])
    if rng.random() < 0.3:
        payload = payload + bytes(rng.choice([1, 64, 1000]))
    return seal(json.dumps(header).encode(), payload)


# ---------------------------------------------------------------------- mutations: arrays
def set_element(rng: random.Random, array: np.ndarray) -> None:
    if not array.size:
        return
    flat = array.reshape(-1)
    index = rng.randrange(array.size)
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):  # 1e300 in a float32
            flat[index] = rng.choice([*FLOATS, rng.gauss(0, 10)])
    elif array.dtype.kind == "b":
        flat[index] = not flat[index]
    else:
        limits = np.iinfo(array.dtype)
        near = int(flat[index]) + rng.choice([-3, -2, -1, 1, 2, 3])
        value = rng.choice([near, near, rng.randrange(30), rng.choice(EDGES)])
        flat[index] = min(max(value, int(limits.min)), int(limits.max))


def elements(rng: random.Random, data: bytes) -> bytes:
    """Change single elements of any array in the file."""
    text, payload = split(data)
    changed = bytearray(payload)
    table = json.loads(text)["arrays"]
    for _ in range(rng.choice([1, 1, 2, 5])):
        entry = rng.choice(table)
        size = int(np.prod(entry["shape"]))
        array = np.frombuffer(changed, entry["dtype"], size, entry["offset"]) if size else None
        if array is not None:
            set_element(rng, array)
    return seal(text, bytes(changed))


def tree_arrays(rng: random.Random, data: bytes) -> bytes:
    """Damage the tree on purpose: loops, strangers, lengths, kinds, swapped nodes."""
    document = read(data)
    tree = document["state"]["tree"]
    stand_in = tree["surrogates"]
    if isinstance(stand_in, list):
        (stand_in,) = stand_in
    parts = [tree, stand_in] if stand_in and rng.random() < 0.3 else [tree]
    for _ in range(rng.choice([1, 1, 2, 4])):
        part = rng.choice(parts)
        name = rng.choice([key for key in part if isinstance(part[key], np.ndarray)])
        array = part[name]
        n = len(array)
        way = rng.randrange(8)
        if way < 3:
            set_element(rng, array)
        elif way == 3:
            part[name] = array[: rng.randrange(n + 1)]
        elif way == 4:
            part[name] = np.concatenate([array, array[: rng.randrange(n + 1)]])
        elif way == 5 and n > 1:
            i, j = rng.randrange(n), rng.randrange(n)
            array[[i, j]] = array[[j, i]]
        elif way == 6:
            part[name] = rng.choice([np.zeros(n, dtype=np.int16), array[..., None], None, n])
        else:  # a loop, two parents, or a step outside
            inner = np.flatnonzero(tree["kind"]) if isinstance(tree["kind"], np.ndarray) else []
            first = tree["first_child"]
            if len(inner) and isinstance(first, np.ndarray) and len(first) >= len(inner):
                split = rng.randrange(len(first))
                first[split] = rng.randrange(-2, 2 * len(inner) + 3) % 2**8
    file = io.BytesIO()
    write(file, document)
    return file.getvalue()


# ---------------------------------------------------------------------- using what was loaded
def answer(tree: Tree, kind: int, threshold: float, start: int, x: float) -> int:
    """Return the child a present value goes to."""
    if kind == MULTIWAY:
        return int(x)
    if kind == SUBSET:
        word, bit = divmod(int(x), 32)
        assert 0 <= start + word < len(tree.bits)
        return 1 - (int(tree.bits[start + word]) >> bit & 1)
    return int(not x <= threshold)


def next_child(tree: Tree, node: int, row: list[float]) -> int:
    feature = int(tree.feature[node])
    assert 0 <= feature < len(row)
    if row[feature] == row[feature]:
        kind, threshold = int(tree.kind[node]), float(tree.threshold[node])
        start = int(tree.bits_start[node])
        return answer(tree, kind, threshold, start, row[feature])
    surrogates = tree.surrogates
    if surrogates is not None:
        for s in range(surrogates.start[node], surrogates.start[node + 1]):
            assert 0 <= s < len(surrogates)
            x = row[surrogates.feature[s]]
            if x == x:
                kind, threshold = int(surrogates.kind[s]), float(surrogates.threshold[s])
                start = int(surrogates.bits_start[s])
                stood = answer(tree, kind, threshold, start, x)
                return stood ^ int(surrogates.reverse[s])
    if tree.missing_child[node] >= 0:
        return int(tree.missing_child[node])
    first, size = int(tree.first_child[node]), int(tree.n_children[node])
    return int(np.argmax(tree.weight[first : first + size]))  # all children: follow the heaviest


def walk(tree: Tree, row: list[float]) -> int:
    """Return the leaf a row ends in; every index is checked, and so is that it ends at all."""
    node = 0
    for _ in range(len(tree)):
        if tree.kind[node] == 0:
            assert np.isfinite(tree.value[node]).all()
            return node
        child = next_child(tree, node, row)
        assert 0 <= child < tree.n_children[node]
        node = int(tree.first_child[node]) + child
        assert 0 <= node < len(tree)
    raise AssertionError("the walk does not end")


def use(model: RandomTreeClassifier, rng: random.Random) -> None:
    """Do with a loaded model what a user would."""
    tree = model.tree_
    for missing in (0.0, 0.5, 1.0):
        row = []
        for column in tree.schema.columns:
            if rng.random() < missing:
                row.append(np.nan)
            elif column.categories is None:
                row.append(rng.choice([rng.gauss(0, 2), 1e300, -1e300]))
            else:
                row.append(
                    float(rng.randrange(len(column.categories))) if column.categories else np.nan
                )
        walk(tree, row)
    for node in tree:
        assert node.pretty()
    assert np.isfinite(tree.feature_importances()).all()
    model.classes_.tolist()
    if isinstance(model.random_state, np.random.RandomState | np.random.Generator):
        assert np.isfinite(model.random_state.standard_normal(3)).all()


MUTATIONS = {
    "raw": (raw, 3000),
    "prefix": (prefix, 500),
    "header_bytes": (header_bytes, 3500),
    "payload_bytes": (payload_bytes, 3000),
    "header_value": (header_value, 5000),
    "table_entry": (table_entry, 2500),
    "elements": (elements, 4000),
    "tree_arrays": (tree_arrays, 4000),
}


def mutant(name: str, case: int) -> tuple[random.Random, bytes]:
    rng = random.Random(f"{name} {case}")
    return rng, MUTATIONS[name][0](rng, rng.choice(originals()))


def outcome(name: str, case: int) -> str:
    """Return "model", or what the error says; raise if anything else happens."""
    rng, data = mutant(name, case)
    try:
        model = load(data)
    except ModelFileError as error:
        return re.sub(r"\d+|'.*'|\(.*\)|\[.*\]", "…", str(error))
    use(model, rng)
    return "model"


def peak_of_process() -> int:
    """Return the most memory this process ever had, in bytes (0 where the system does not tell)."""
    if resource is None:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def test_the_originals_load_and_can_be_used():
    for data in originals():
        use(load(data), random.Random(0))
        header, payload = split(data)
        assert seal(header, payload) == data
    assert len(SCHEMA.columns) == 5


def test_there_are_enough_mutations():
    assert sum(cases for _, cases in MUTATIONS.values()) >= 20_000


# name, how many different complaints and how many models must at least come out: shows that the
# mutations get as deep as they should
REACH = {
    "raw": (4, 0),
    "prefix": (4, 1),
    "header_bytes": (20, 50),
    "payload_bytes": (20, 50),
    "header_value": (60, 50),
    "table_entry": (8, 5),
    "elements": (25, 200),
    "tree_arrays": (40, 100),
}


@pytest.mark.parametrize("name", MUTATIONS)
@pytest.mark.parametrize("part", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_a_mutated_file_is_a_model_or_a_clear_error(name, part):
    originals()
    before = peak_of_process()
    outcomes: Counter = Counter()
    slowest = 0.0
    for case in range(MUTATIONS[name][1] // part):
        start = time.perf_counter()
        try:
            outcomes[outcome(name, case)] += 1
        except Exception as error:
            raise AssertionError(f"outcome({name!r}, {case}) fails") from error
        slowest = max(slowest, time.perf_counter() - start)
    assert slowest < 10  # a hang, not a benchmark: a case takes about a millisecond
    assert peak_of_process() - before < 200 * 2**20
    complaints, models = REACH[name]
    assert len(outcomes) - 1 >= complaints / part**0.5  # the rarer ones come late
    assert outcomes["model"] >= models // part


def memory_of_load(data: bytes) -> float:
    """Return the largest memory while a file loads, in times its size."""
    tracemalloc.start()
    try:
        load(data)
    except ModelFileError:
        pass
    finally:
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return most / len(data)


@pytest.mark.parametrize("name", ["prefix", "table_entry", "header_value", "tree_arrays"])
def test_no_mutated_file_takes_much_memory(name):
    for case in range(10**6, 10**6 + 200):
        _, data = mutant(name, case)
        # threads that other tests left (those of a cluster) allocate, too: the least of some turns counts
        assert any(memory_of_load(data) < 50 for _ in range(4)), case
