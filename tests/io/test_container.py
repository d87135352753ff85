"""The file around a document: exact, deterministic, atomic, and suspicious of every byte."""

import io
import json
import os
import random
import signal
import struct
import subprocess
import sys
import time
import tracemalloc
import zlib
from pathlib import Path

import numpy as np
import pytest

from arboretum.errors import ModelFileError, ParameterError
from arboretum.io import container
from arboretum.io.container import FORMAT_VERSION, array_size, read, write

DTYPES = [f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64)]
DTYPES += ["bool", "float16", "float32", "float64"]
DOCUMENT = {
    "text": 'Zürich "[[{{" \\ 樹 \ud800',
    "numbers": [0, -1, 2**64 - 1, -(2**63), 0.1, -0.0, 1e308, 5e-324],
    "flags": [None, True, False],
    "empty": [[], {}, ""],
    "nested": {"b": {"a": [np.arange(3), {"x": np.zeros((2, 0, 3))}]}, "$tag": 1},
    "scalar": np.array(2.5),
}


def to_bytes(document: dict) -> bytes:
    file = io.BytesIO()
    write(file, document)
    return file.getvalue()


def seal(header: object, payload: bytes = b"", version: int = 1) -> bytes:
    """Build a file by hand, with right lengths and checksums around any header and payload."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    lengths = (len(text), len(payload), zlib.crc32(payload))
    prefix = struct.pack("<8sIIQQI", b"ARBORETM", version, zlib.crc32(text), *lengths)
    body = prefix + struct.pack("<I", zlib.crc32(prefix)) + text
    return body + bytes(-len(body) % 64) + payload


def assert_same(left: object, right: object) -> None:
    assert type(left) is type(right)
    if isinstance(left, np.ndarray):
        assert left.dtype == right.dtype
        assert left.shape == right.shape
        assert left.tobytes() == right.tobytes()
    elif isinstance(left, dict):
        assert set(left) == set(right)
        for key in left:
            assert_same(left[key], right[key])
    elif isinstance(left, list):
        assert len(left) == len(right)
        for a, b in zip(left, right):
            assert_same(a, b)
    else:
        assert repr(left) == repr(right)  # tells 0.0 from -0.0


# ---------------------------------------------------------------------- what goes in comes out
def test_a_document_comes_back_exactly():
    assert_same(read(to_bytes(DOCUMENT)), DOCUMENT)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (5,), (3, 4), (2, 3, 4)])
def test_every_dtype_and_shape_comes_back(dtype, shape):
    rng = np.random.default_rng(0)
    array = rng.integers(0, 2, size=shape) if dtype == "bool" else rng.normal(size=shape) * 50
    array = np.asarray(np.abs(array)).astype(dtype)
    again = read(to_bytes({"a": array}))["a"]
    assert_same(again, array)
    assert again.flags.writeable
    assert again.flags.c_contiguous


@pytest.mark.parametrize(
    "array",
    [
        np.arange(12, dtype=">f8").reshape(3, 4),
        np.asfortranarray(np.arange(12.0).reshape(3, 4)),
        np.arange(24.0).reshape(6, 4)[::2],
        np.broadcast_to(np.float64(3), (3, 4)),
    ],
)
def test_order_and_layout_of_bytes_do_not_matter(array):
    again = read(to_bytes({"a": array}))["a"]
    np.testing.assert_array_equal(again, array)
    assert to_bytes({"a": array}) == to_bytes({"a": again})


def test_special_floats_in_arrays_keep_every_bit():
    array = np.array([np.nan, -np.nan, np.inf, -0.0]).view(np.uint64)
    array[0] |= 77  # a NaN with a message
    again = read(to_bytes({"a": array.view(np.float64)}))["a"]
    np.testing.assert_array_equal(again.view(np.uint64), array)


def test_the_same_document_gives_the_same_bytes_whatever_the_order_of_its_keys():
    def backwards(value):
        if isinstance(value, dict):
            return {key: backwards(value[key]) for key in reversed(value)}
        return value

    assert to_bytes(backwards(DOCUMENT)) == to_bytes(DOCUMENT)
    assert to_bytes(read(to_bytes(DOCUMENT))) == to_bytes(DOCUMENT)


def test_the_layout_is_the_documented_one():
    data = to_bytes({"a": np.array([1.5, 2.5]), "b": np.array([7], dtype=np.uint16)})
    assert data[:8] == b"ARBORETM"
    header_size, payload_size = struct.unpack_from("<QQ", data, 16)
    header = json.loads(data[40 : 40 + header_size])
    assert [entry["offset"] for entry in header["arrays"]] == [0, 64]
    payload = data[-payload_size:]
    assert (len(data) - payload_size) % 64 == 0
    assert np.frombuffer(payload[:16], "<f8").tolist() == [1.5, 2.5]
    assert payload[64:] == b"\x07\x00"
    assert data == seal(data[40 : 40 + header_size], payload)


def test_paths_bytes_and_files_are_all_read(tmp_path):
    path = tmp_path / "møbel.arb"
    write(path, DOCUMENT)
    data = path.read_bytes()
    for source in (path, str(path), data, bytearray(data), memoryview(data), io.BytesIO(data)):
        assert_same(read(source), DOCUMENT)


# ---------------------------------------------------------------------- what cannot be written
@pytest.mark.parametrize(
    ("value", "message"),
    [
        (float("nan"), r"document\['a'\] cannot be written: nan"),
        ((1, 2), "tuple"),
        ({1, 2}, "set"),
        (2**64, "cannot be written"),
        (-(2**63) - 1, "cannot be written"),
        ({1: 2}, "cannot be written"),
        ({"$array": 0}, "reserved"),
        ([1, {"b": [print]}], r"document\['a'\]\[1\]\['b'\]\[0\] cannot be written"),
        (np.array(["x"]), "dtype <U1"),
        (np.array([1j]), "complex128"),
        (np.array([None]), "dtype object"),
        (np.zeros(3, dtype=[("x", "f8")]), "cannot be written"),
        (np.zeros((1,) * 20), "20 dimensions"),
    ],
)
def test_what_has_no_place_in_a_file_is_named(value, message):
    with pytest.raises(ParameterError, match=message):
        to_bytes({"a": value})


def test_a_list_that_holds_itself_is_refused():
    loop: list = []
    loop.append(loop)
    with pytest.raises(ParameterError, match="nested deeper"):
        to_bytes({"a": loop})


def test_depth_is_limited_on_both_sides_alike():
    deep: list = []
    for _ in range(61):
        deep = [deep]
    assert_same(read(to_bytes({"a": deep})), {"a": deep})
    with pytest.raises(ParameterError, match="nested deeper"):
        to_bytes({"a": [deep]})


def test_too_many_lists_are_refused_on_both_sides(monkeypatch):
    data = to_bytes({"a": [[] for _ in range(50)]})
    monkeypatch.setattr(container, "MAX_CONTAINERS", 50)
    with pytest.raises(ModelFileError, match="too complex"):
        read(data)
    with pytest.raises(ParameterError, match="put what is large into arrays"):
        to_bytes({"a": [[] for _ in range(50)]})
    monkeypatch.setattr(container, "MAX_HEADER", 50)
    with pytest.raises(ModelFileError, match="header claims"):
        read(data)
    with pytest.raises(ParameterError, match="put what is large into arrays"):
        to_bytes({"a": "x" * 50})


def test_too_many_values_are_refused_on_both_sides(monkeypatch):
    data = to_bytes({"a": list(range(50))})
    monkeypatch.setattr(container, "MAX_COMMAS", 40)
    with pytest.raises(ModelFileError, match="too complex: 50 commas"):
        read(data)
    with pytest.raises(ParameterError, match="put what is large into arrays"):
        to_bytes({"a": list(range(50))})


def test_only_a_dictionary_is_a_document():
    with pytest.raises(ParameterError, match="a document is a dict"):
        to_bytes([1])  # type: ignore[arg-type]


# ---------------------------------------------------------------------- atomic writing
def test_writing_replaces_a_file_and_leaves_nothing_else(tmp_path):
    path = tmp_path / "model.arb"
    write(path, {"a": 1})
    write(path, {"a": 2})
    assert read(path) == {"a": 2}
    assert os.listdir(tmp_path) == ["model.arb"]


def test_a_failed_write_keeps_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.arb"
    write(path, {"a": 1})

    def fail(*_: object) -> None:
        raise OSError("disk full")

    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, name, fail)
            with pytest.raises(OSError, match="disk full"):
                write(path, {"a": 2})
        assert read(path) == {"a": 1}
        assert os.listdir(tmp_path) == ["model.arb"]


def test_a_document_that_cannot_be_written_leaves_the_old_file(tmp_path):
    path = tmp_path / "model.arb"
    write(path, {"a": 1})
    with pytest.raises(ParameterError):
        write(path, {"a": {1}})
    assert read(path) == {"a": 1}


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL and links are POSIX")
def test_a_killed_process_never_leaves_half_a_file(tmp_path):
    path = tmp_path / "model.arb"
    code = (
        "import sys, itertools, numpy as np\n"
        "from arboretum.io.container import write\n"
        "for i in itertools.count():\n"
        "    write(sys.argv[1], {'i': i, 'a': np.full(300_000, i)})\n"
        "    print(i, flush=True)\n"
    )
    rng = random.Random(0)
    for _ in range(4):
        process = subprocess.Popen(
            [sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        process.stdout.readline()  # the first file is complete; now kill it while it writes another
        time.sleep(rng.random() * 0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        document = read(path)
        assert (document["a"] == document["i"]).all()


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL and links are POSIX")
def test_a_link_stays_a_link(tmp_path):
    target, link = tmp_path / "target.arb", tmp_path / "link.arb"
    write(target, {"a": 1})
    link.symlink_to(target)
    write(link, {"a": 2})
    assert link.is_symlink()
    assert read(target) == {"a": 2}


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="no /dev/null")
def test_a_device_is_written_to_and_not_replaced():
    write("/dev/null", {"a": 1})
    assert not Path("/dev/null").is_file()


def test_what_the_system_refuses_stays_an_oserror(tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "nothing.arb")
    with pytest.raises(FileNotFoundError):
        write(tmp_path / "no" / "folder.arb", {})
    with pytest.raises(OSError):  # noqa: PT011 - IsADirectoryError or PermissionError
        read(tmp_path)
    with pytest.raises(OSError):  # noqa: PT011
        write(tmp_path, {})


# ---------------------------------------------------------------------- accidents
def test_every_changed_byte_is_noticed():
    data = to_bytes(DOCUMENT)
    for position in range(len(data)):
        changed = bytearray(data)
        changed[position] ^= 0x40
        with pytest.raises(ModelFileError):
            read(changed)


def test_every_truncation_and_every_extension_is_noticed():
    data = to_bytes(DOCUMENT)
    for length in range(len(data)):
        with pytest.raises(ModelFileError):
            read(data[:length])
    with pytest.raises(ModelFileError, match="too long"):
        read(data + b"\0")


@pytest.mark.parametrize("data", [b"", b"ARB", b"\x80\x04\x95", b"{}", b"x" * 10_000])
def test_other_files_are_told_apart(data):
    for source in (data, io.BytesIO(data)):
        with pytest.raises(ModelFileError, match=r"not an arboretum model file.*pickle"):
            read(source)


def test_an_endless_file_is_not_read_to_its_end():
    class Endless(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            assert size >= 0, "read everything of a file that is not a model"
            return b"\0" * size

    with pytest.raises(ModelFileError, match="not an arboretum model file"):
        read(Endless())  # type: ignore[arg-type]


def test_a_newer_format_says_what_to_do():
    data = seal({"arrays": [], "document": {}}, version=FORMAT_VERSION + 1)
    with pytest.raises(ModelFileError, match=r"format 2.*reads up to 1.*pip install --upgrade"):
        read(data)
    with pytest.raises(ModelFileError, match="first bytes are damaged"):
        read(seal({"arrays": [], "document": {}}, version=0))


# ---------------------------------------------------------------------- malice: right checksums
REFERENCE = {"a": {"$array": 0}}


def entry(dtype: object = "uint8", shape: object = (4,), offset: object = 0) -> dict:
    shape = list(shape) if isinstance(shape, tuple) else shape
    return {"dtype": dtype, "shape": shape, "offset": offset}


MALICIOUS_TABLES = [
    (None, "not a list"),
    ([3], "entry 0"),
    ([{}], "entry 0"),
    ([{**entry(), "more": 1}], "entry 0"),
    ([entry(dtype="object")], "unknown dtype 'object'"),
    ([entry(dtype="O")], "unknown dtype"),
    ([entry(dtype="float64\0")], "unknown dtype"),
    ([entry(dtype=["uint8"])], "unknown dtype"),
    ([entry(dtype=None)], "unknown dtype"),
    ([entry(shape=4)], "not the shape"),
    ([entry(shape=None)], "not the shape"),
    ([entry(shape=(-4,))], "not the shape"),
    ([entry(shape=(-2, -2))], "not the shape"),
    ([entry(shape=(4.0,))], "not the shape"),
    ([entry(shape=(True, 4))], "not the shape"),
    ([entry(shape=("4",))], "not the shape"),
    ([entry(shape=(1,) * 17)], "not the shape"),
    ([entry(shape=(2**40,))], "beyond the end"),
    ([entry(shape=(2**62,))], "beyond the end"),
    ([entry(shape=(2**64 - 1,))], "does not fit into memory"),
    ([entry(shape=(2**32, 2**32))], "does not fit into memory"),
    ([entry(shape=(2**32, 2**32, 0))], "does not fit into memory"),
    ([entry(shape=(2**61,), dtype="float64")], "does not fit into memory"),
    ([entry(shape=(5,))], "beyond the end"),
    ([entry(shape=(3,))], "hides bytes behind"),
    ([entry(dtype="float64")], "beyond the end"),
    ([entry(offset=64)], "does not begin"),
    ([entry(offset=-64)], "does not begin"),
    ([entry(offset=1)], "does not begin"),
    ([entry(offset=0.0)], "does not begin"),
    ([entry(offset=False)], "does not begin"),
    ([entry(offset="0")], "does not begin"),
    ([entry(), entry()], "array 1 does not begin"),
    ([entry(), entry(offset=64)], "array 1 reaches beyond"),
    ([entry(), entry(shape=(0,), offset=64)], "array 1 reaches beyond"),
    ([], "hides bytes"),
]


@pytest.mark.parametrize(("table", "message"), MALICIOUS_TABLES)
def test_a_malicious_table_of_arrays_is_refused(table, message):
    assert read(seal({"arrays": [entry()], "document": REFERENCE}, b"abcd"))["a"].tolist() == [
        *b"abcd"
    ]
    with pytest.raises(ModelFileError, match=message):
        read(seal({"arrays": table, "document": REFERENCE}, b"abcd"))


MALICIOUS_DOCUMENTS = [
    ({}, "nothing refers to"),
    ({"a": {"$array": 1}}, "refers to no array"),
    ({"a": {"$array": -1}}, "refers to no array"),
    ({"a": {"$array": 0.0}}, "refers to no array"),
    ({"a": {"$array": False}}, "refers to no array"),
    ({"a": {"$array": None}}, "refers to no array"),
    ({"a": {"$array": {"$array": 0}}}, "refers to no array"),
    ({"a": {"$array": 0, "b": 1}}, "refers to no array"),
    ({"a": {"$array": 0}, "b": {"$array": 0}}, "used twice"),
    ([{"$array": 0}], "not a dictionary"),
    ({"$array": 0}, "not a dictionary"),
    (None, "nothing refers to"),
]


@pytest.mark.parametrize(("document", "message"), MALICIOUS_DOCUMENTS)
def test_a_malicious_document_is_refused(document, message):
    with pytest.raises(ModelFileError, match=message):
        read(seal({"arrays": [entry()], "document": document}, b"abcd"))


MALICIOUS_HEADERS = [
    (b"", "cannot be parsed"),
    (b"[]", "not one of a model"),
    (b"3", "not one of a model"),
    (b'{"arrays":[]}', "not one of a model"),
    (b'{"arrays":[],"document":{},"x":1}', "not one of a model"),
    (b'{"arrays":[],"document":{}', "cannot be parsed"),
    (b'{"arrays":[],"document":{}}}', "cannot be parsed"),
    (b'{"arrays":[],"document":{"a":NaN}}', "NaN is not JSON"),
    (b'{"arrays":[],"document":{"a":-Infinity}}', "-Infinity is not JSON"),
    (b'{"arrays":[],"document":{"a":1e999}}', "beyond the range"),
    (b'{"arrays":[],"document":{"a":18446744073709551616}}', "not a 64-bit integer"),
    (b'{"arrays":[],"document":{"a":' + b"9" * 1_000_000 + b"}}", "not a 64-bit integer"),
    (b'{"arrays":[],"document":{"a":"\xff"}}', "cannot be parsed"),
    (b"\xff\xfe", "cannot be parsed"),
    (b"[" * 1_000_000, "too complex"),
    (b'{"a":' * 1_000_000, "too complex"),
    (b'{"arrays":[],"document":{"a":' + b"[" * 63 + b"]" * 63 + b"}}", "nested 65 deep"),
    (b'{"arrays":[],"document":[' + b"[]," * 2**22 + b"0]}", "too complex: 4194307"),
    (b'{"a":"\\"' + b"[" * 200 + b'"}', "not one of a model"),  # brackets in a string do not count
    (b'"\\"' * 100_000 + b"\\", "cannot be parsed"),  # nor does a string that never ends cost time
    (b'{"a' + b'\\"' * 1_000_000, "cannot be parsed"),
]


@pytest.mark.parametrize(("header", "message"), MALICIOUS_HEADERS, ids=lambda v: str(v)[:40])
def test_a_malicious_header_is_refused_at_once(header, message):
    start = time.perf_counter()
    with pytest.raises(ModelFileError, match=message):
        read(seal(header))
    assert time.perf_counter() - start < 5  # a hang, not a benchmark: it takes milliseconds


def test_hidden_bytes_are_refused():
    data = bytearray(seal({"arrays": [], "document": {}}))
    data[-1] = 1
    with pytest.raises(ModelFileError, match="hides bytes between"):
        read(data)
    table = [entry(shape=(1,)), entry(shape=(1,), offset=64)]
    document = {"a": [{"$array": 0}, {"$array": 1}]}
    payload = bytearray(65)
    assert len(read(seal({"arrays": table, "document": document}, bytes(payload)))["a"]) == 2
    payload[30] = 1
    with pytest.raises(ModelFileError, match="hides bytes before array 1"):
        read(seal({"arrays": table, "document": document}, bytes(payload)))


def test_a_boolean_is_nothing_but_0_or_1():
    header = {"arrays": [entry(dtype="bool")], "document": REFERENCE}
    assert read(seal(header, b"\0\1\1\0"))["a"].tolist() == [False, True, True, False]
    with pytest.raises(ModelFileError, match="other bytes than 0 and 1"):
        read(seal(header, b"\0\2\1\0"))


def peak_memory(data: bytes) -> int:
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError):
            read(data)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "document",
    [
        pytest.param(b'{"a":[' + b"[]," * 300_000 + b"0]}", id="empty lists"),
        pytest.param(b'{"a":[' + b'{"a":0},' * 120_000 + b"0]}", id="small dicts"),
        pytest.param(b'{"a":[' + b"999," * 250_000 + b"0]}", id="integers"),
        pytest.param(b'{"a":[' + b'"\xc4\x80",' * 200_000 + b"0]}", id="strings"),
        pytest.param(b'{"a":[' + b'{"$array":0},' * 80_000 + b"0]}", id="one array, many times"),
    ],
)
def test_memory_grows_with_the_file_and_not_faster(document):
    """Files that end in an error only at the very end, after all has been parsed."""
    payload = bytes(1_000_000)
    header = b'{"arrays":[{"dtype":"uint8","shape":[1000000],"offset":0}],"document":' + document
    data = seal(header + b"}", payload)
    assert peak_memory(data) < 40 * len(data)


def test_the_size_of_an_array_is_computed_without_overflow():
    assert array_size([], 8) == 8
    assert array_size([3, 0, 5], 8) == 0
    assert array_size([2**31, 2**31], 1) == 2**62
    with pytest.raises(ModelFileError):
        array_size([2**31, 2**31], 8)
