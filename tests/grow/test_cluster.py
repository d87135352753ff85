"""Objects on workers: replies in order, deaths apart from errors, and lost objects made anew."""

import pytest

from arboretum.grow.cluster import Died, InProcess, Lost


class Adder:
    """Adds up; dies and fails on request."""

    made = 0

    def __init__(self, total):
        self.total = total
        type(self).made += 1

    def add(self, number):
        if number == self.total:
            raise Died
        if number < 0:
            raise ValueError("negative")
        self.total += number
        return self.total


@pytest.fixture(params=[1, 3])
def cluster(request):
    Adder.made = 0
    found = InProcess(request.param).place(Adder, [(10,), (20,), (30,)], ["rows a", "rows b", "c"])
    yield found
    found.close()


def test_all_some_and_each_are_called(cluster):
    assert len(cluster) == 3
    assert cluster.call("add", 1) == [11, 21, 31]
    assert cluster.call_some([2, 0], "add", 1) == [32, 12]
    assert cluster.call_each("add", {1: (5,), 0: (7,)}) == {1: 26, 0: 19}
    assert cluster.call_some([], "add", 1) == []


def test_a_death_names_the_lost_and_keeps_the_replies_of_the_others(cluster):
    with pytest.raises(Lost) as lost:
        cluster.call("add", 20)
    assert (lost.value.which, lost.value.name, lost.value.replies) == ([1], "add", {0: 30, 2: 50})
    cluster.renew(lost.value.which)
    assert Adder.made == 4
    assert cluster.call("add", 1) == [31, 21, 51]


def test_an_error_of_an_object_comes_back_as_itself_with_its_place(cluster):
    with pytest.raises(ValueError, match="negative") as error:
        cluster.call_each("add", {0: (1,), 1: (-1,), 2: (-1,)})
    assert error.value.__notes__ == ["raised by 'add' of rows b on this process"]
    assert cluster.call("add", 0) == [11, 20, 30]  # the others were waited for


def test_a_death_is_raised_before_an_error(cluster):
    with pytest.raises(Lost) as lost:
        cluster.call_each("add", {0: (-1,), 1: (20,), 2: (30,)})
    assert lost.value.which == [1, 2]


def test_objects_that_cannot_be_made_are_lost():
    class Dying(InProcess):
        def start(self, i, maker, arguments):
            if i == 1:
                raise Died
            return super().start(i, maker, arguments)

    with pytest.raises(Lost) as lost:
        Dying().place(Adder, [(1,), (2,), (3,)])
    assert (lost.value.which, lost.value.name) == ([1], "start")


def test_objects_that_are_let_go_are_stopped():
    stopped = []

    class Watched(InProcess):
        def stop(self, handle):
            stopped.append(handle.total)
            if handle.total == 2:
                raise Died  # it is gone already

    cluster = Watched().place(Adder, [(1,), (2,)])
    cluster.renew([0])
    cluster.close()
    cluster.close()
    assert stopped == [1, 1, 2]
    assert [worker.name for worker in cluster.workers()] == ["this process"]
