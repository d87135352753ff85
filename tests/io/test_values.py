"""Parameter values survive exactly, or are refused by name."""

import io
from enum import StrEnum

import numpy as np
import pytest

from arboretum.errors import ModelFileError, ParameterError
from arboretum.io.container import read, write
from arboretum.io.values import decode, encode


def through_a_file(value: object) -> object:
    file = io.BytesIO()
    write(file, {"value": encode(value, "value")})
    return decode(read(file.getvalue())["value"])


VALUES = [
    *(None, True, False, 0, -1, 2**64 - 1, 2**64, -(2**200), 2**256 - 1, 0.1, -0.0),
    *(float("inf"), float("-inf"), float("nan"), "", "Zürich 樹", "\ud800", "$tuple"),
    *([], (), {}, [[]], ((),), [1, (2, [3, ("x",)])], (1,), [1]),
    {"a": 1, "b": [2, (3,)]},
    {1: "a", 0: "b"},
    {None: 1, True: 2, 2.5: 3, "x": 4, float("inf"): 5},
    {"$tuple": [1]},
    {"$tuple": [1], "b": 2},
    {"$array": 0},
    {0: {1: {2: (3,)}}},
    {np.int64(3): 1.0, np.float32(0.5): 2.0, np.bool(True): 3.0},
]


def assert_same(left: object, right: object) -> None:
    assert type(left) is type(right)
    if isinstance(left, dict):
        assert_same(list(left.items()), list(right.items()))
    elif isinstance(left, list | tuple):
        assert len(left) == len(right)
        for a, b in zip(left, right):
            assert_same(a, b)
    else:
        assert repr(left) == repr(right)


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_plain_values_come_back_exactly(value):
    assert_same(through_a_file(value), value)


@pytest.mark.parametrize(
    "value",
    [
        *(np.int8(-3), np.uint64(2**64 - 1), np.int64(5), np.bool(True)),
        *(np.float16(0.1), np.float32(0.1), np.float64(np.nan), np.float64(-np.inf)),
    ],
    ids=repr,
)
def test_numpy_scalars_keep_their_type(value):
    again = through_a_file(value)
    assert type(again) is type(value)
    assert again.tobytes() == value.tobytes()


def test_a_numpy_string_becomes_a_string():
    assert_same(through_a_file(np.str_("oak")), "oak")


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3),
        np.array([True, False]),
        np.array([], dtype=np.int32),
        np.array(["oak", "", "Bäume 樹"]),
        np.array([["a", "bc"], ["def", "g"]], dtype=">U7"),
        np.array("lonely"),
        np.array([], dtype="U5"),
        np.array(["x", None, 3, 2.5, (1, 2)], dtype=object),
        np.empty((2, 0), dtype=object),
        np.array([[None, "a"], ["b", 2]], dtype=object)[:, ::-1],
    ],
    ids=repr,
)
def test_arrays_come_back(array):
    again = through_a_file(array)
    assert again.dtype == array.dtype.newbyteorder("=")
    assert again.shape == array.shape
    assert again.tolist() == array.tolist()


def test_a_memory_mapped_array_is_an_array(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(5))
    again = through_a_file(np.load(tmp_path / "a.npy", mmap_mode="r"))
    assert again.tolist() == [0, 1, 2, 3, 4]


# ---------------------------------------------------------------------- random states
@pytest.mark.parametrize("drawn", [0, 1, 700])
def test_a_random_state_goes_on_where_it_was(drawn):
    state = np.random.RandomState(7)
    state.randn(drawn)
    again = through_a_file(state)
    assert type(again) is np.random.RandomState
    np.testing.assert_array_equal(again.randn(50), state.randn(50))


BIT_GENERATORS = ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"]


@pytest.mark.parametrize("name", BIT_GENERATORS)
@pytest.mark.parametrize("drawn", [0, 3])
def test_a_generator_goes_on_where_it_was(name, drawn):
    generator = np.random.Generator(getattr(np.random, name)(2**100))
    generator.spawn(2)
    generator.integers(10, size=drawn, dtype=np.uint32)
    again = through_a_file(generator)
    np.testing.assert_array_equal(
        again.integers(2**32, size=9, dtype=np.uint32),
        generator.integers(2**32, size=9, dtype=np.uint32),
    )
    assert again.spawn(1)[0].random() == generator.spawn(1)[0].random()


@pytest.mark.parametrize("name", BIT_GENERATORS)
def test_a_random_state_may_have_any_bit_generator(name):
    state = np.random.RandomState(getattr(np.random, name)(3))
    again = through_a_file(state)
    np.testing.assert_array_equal(again.uniform(size=5), state.uniform(size=5))


def changed(state: dict, changes: dict) -> dict:
    """Return an encoded state of a generator with some entries changed, wherever they stand."""
    inner = {key: changes.get(key, entry) for key, entry in state["state"].items()}
    outer = {key: entry for key, entry in changes.items() if key not in inner}
    return {**state, "state": inner, **outer}


def random_state(**changes: object) -> dict:
    encoded = encode(np.random.RandomState(0), "x")["$random_state"]
    return {"$random_state": changed(encoded, changes)}


def generator(name: str = "PCG64", **changes: object) -> dict:
    encoded = encode(np.random.Generator(getattr(np.random, name)(0)), "x")["$generator"]
    return {"$generator": {**encoded, "state": changed(encoded["state"], changes)}}


def seeded(**changes: object) -> dict:
    encoded = encode(np.random.default_rng(0), "x")["$generator"]
    return {"$generator": {**encoded, "seed": {**encoded["seed"], **changes}}}


def test_the_helpers_change_what_they_should():
    assert decode(random_state(pos=3)).get_state()[2] == 3
    assert decode(generator(inc=5)).bit_generator.state["state"]["inc"] == 5
    assert decode(generator(has_uint32=1)).bit_generator.state["has_uint32"] == 1
    assert decode(seeded(entropy=3)).bit_generator.seed_seq.entropy == 3
    first_bit_only = np.zeros(624, dtype=np.uint32)
    first_bit_only[0] = 2**31
    assert 0 < decode(random_state(key=first_bit_only, pos=624)).uniform() < 1


ZEROS = np.zeros(624, dtype=np.uint32)
NONSENSE = [
    *({"$tuple": 3}, {"$tuple": {"a": 1}}, {"$float": "1.0"}, {"$float": 1}, {"$float": None}),
    *({"$int": 3}, {"$int": "5"}, {"$int": "0x5"}, {"$int": "x"}, {"$int": "0x" + "f" * 10_000}),
    *({"$int": "0x1_0000000000000000"}, {"$int": " 0x10000000000000000"}, {"$int": ""}),
    *({"$dict": 3}, {"$dict": [3]}, {"$dict": [[1]]}, {"$dict": [[1, 2, 3]]}),
    *({"$dict": [[[1], 2]]}, {"$dict": [[{"$tuple": [1]}, 2]]}, {"$dict": [[1, 2], [1, 3]]}),
    *({"$dict": [[{"$int": hex(2**64)}, 2]]}, {"$dict": [[np.zeros(2), 2]]}),
    *({"$scalar": 3}, {"$scalar": np.zeros(1)}, {"$text": "x"}, {"$text": np.zeros(3)}),
    {"$text": np.array(65, dtype=np.uint32)},
    {"$text": np.zeros((3, 0), dtype=np.uint32)},
    {"$text": np.zeros((0, 2_000_000), dtype=np.uint32)},
    {"$text": np.array([[0x110000]], dtype=np.uint32)},
    *({"$objects": []}, {"$objects": {"shape": [2], "items": [1]}}),
    {"$objects": {"shape": [0, 2**62], "items": []}},
    {"$objects": {"shape": [-1], "items": [1]}},
    {"$objects": {"shape": [1], "items": 3}},
    *({"$unknown": 1}, {"$tuple": [], "b": 1}, {"$": 1}),
    *({"$random_state": None}, {"$random_state": {}}, {"$generator": None}, {"$generator": {}}),
    *(random_state(pos=-1), random_state(pos=625), random_state(pos=2**40), random_state(pos=1.0)),
    *(random_state(key=ZEROS), random_state(key=ZEROS[:5]), random_state(key=[1] * 624)),
    *(random_state(has_gauss=7), random_state(gauss="x"), random_state(more=1)),
    *(random_state(bit_generator="PCG64"), random_state(bit_generator="Exploit")),
    *(random_state(bit_generator=["MT19937"]), random_state(bit_generator=None)),
    *(generator(inc=0), generator(inc=-1), generator(inc="1"), generator(inc=2**128 + 1)),
    *(generator(state=-1), generator(state=1.0), generator(state=None), generator(more=1)),
    *(generator(has_uint32=5), generator(uinteger=2**40), generator(uinteger=-1)),
    *(generator("Philox", buffer_pos=-1), generator("Philox", buffer_pos=5)),
    generator("Philox", buffer=np.zeros(3, dtype=np.uint64)),
    *(seeded(pool_size=2**31), seeded(pool_size=0), seeded(pool_size="4"), seeded(more=1)),
    *(seeded(entropy="many"), seeded(entropy=-1), seeded(entropy=[1.5]), seeded(entropy=None)),
    *(seeded(spawn_key=3), seeded(spawn_key=[-1]), seeded(n_children_spawned=-1)),
]


@pytest.mark.parametrize("encoded", NONSENSE, ids=lambda v: str(v)[:60])
def test_nonsense_is_refused(encoded):
    with pytest.raises(ModelFileError, match=r"it holds a|shape|does not fit"):
        decode(encoded)


# ---------------------------------------------------------------------- what cannot be saved
class Colour(StrEnum):
    RED = "red"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (print, "print"),
        (int, "type"),
        (object(), "object"),
        ({1, 2}, "set"),
        (b"bytes", "bytes"),
        (1j, "complex"),
        (Colour.RED, "Colour"),
        ([1, {"a": (print,)}], "item 1, key 'a', item 0 cannot be saved natively"),
        ({(1, 2): 3}, "not a plain scalar"),
        ({2**64: 3}, "not a plain scalar"),
        (2**256, "256 bits"),
        (np.array([1j]), "complex128"),
        (np.complex64(1), "complex64"),
        (np.datetime64("2020-01-01"), "datetime64"),
        (np.array(["2020-01-01"], dtype="M8[D]"), "datetime64"),
        (np.ma.masked_array([1, 2], mask=[0, 1]), "MaskedArray"),
        (np.array([print], dtype=object), "item 0 cannot"),
        (np.zeros(2, dtype=[("a", "f8")]), "dtype"),
    ],
)
def test_what_has_no_plain_form_is_named(value, message):
    with pytest.raises(ParameterError, match=rf"^parameter 'p' of Model.*{message}"):
        encode(value, "parameter 'p' of Model")


def test_a_value_that_holds_itself_is_refused():
    loop: dict = {}
    loop["again"] = loop
    with pytest.raises(ParameterError, match="nested deeper"):
        encode(loop, "parameter 'p'")
