"""Attributes computed when first read: once, and never behind a lock."""

from __future__ import annotations

import ast
import threading
from pathlib import Path

import arboretum
from arboretum.lazy import cached_property

PACKAGE = Path(arboretum.__file__).parent


class Slow:
    """Its value takes until ``go`` is set."""

    def __init__(self) -> None:
        self.begun, self.go = threading.Event(), threading.Event()

    @cached_property
    def value(self) -> object:
        """A value."""
        self.begun.set()
        assert self.go.wait(10)
        return object()


def _done(one: Slow) -> Slow:
    one.go.set()
    return one


def test_a_value_is_computed_once_and_can_be_deleted():
    slow = _done(Slow())
    first = slow.value
    assert slow.value is first is vars(slow)["value"]
    del slow.value
    assert slow.value is not first


def test_the_class_shows_the_property_and_its_docstring():
    assert Slow.value.__doc__ == "A value."


def test_a_thread_that_computes_holds_up_no_other_object():
    # with a lock per property, as in Python 3.11's, the second object waits for the first
    slow, quick = Slow(), _done(Slow())
    thread = threading.Thread(target=lambda: slow.value)
    thread.start()
    assert slow.begun.wait(10)
    reader = threading.Thread(target=lambda: quick.value, daemon=True)
    reader.start()
    reader.join(5)
    waited = reader.is_alive()
    slow.go.set()
    thread.join()
    assert not waited


def test_two_threads_read_the_same_value():
    slow, found = Slow(), []
    threads = [threading.Thread(target=lambda: found.append(slow.value)) for _ in range(2)]
    for thread in threads:
        thread.start()
    slow.go.set()
    for thread in threads:
        thread.join()
    assert found[0] is found[1] is slow.value


def test_the_package_uses_no_cached_property_with_a_lock():
    for path in set(PACKAGE.rglob("*.py")) - {PACKAGE / "lazy.py"}:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module == "functools":
                assert "cached_property" not in [alias.name for alias in node.names], path
            assert getattr(node, "attr", "") != "cached_property", path
