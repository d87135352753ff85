"""Small tables that lectures calculate by hand, to type nothing in.

    play_tennis        14 days, four columns of words        ID3, C4.5, Gini
    golf               the same days, two columns numbers    C4.5, CART
    buys_computer      14 customers, words                   ID3, C4.5, Gini
    basketball         5 people, one column                  information gain .01997
    heart_disease      4 patients, the last with gaps        filling by proximities
    body_weights       3 people, to predict a number         gradient boosting of 88, 76, 56
    drug_dosage        4 doses, to predict a number          similarity and gain of XGBoost

>>> from arboretum.textbook.id3 import grow_id3
>>> days = play_tennis()
>>> tree = grow_id3(days.X, days.y, names=days.names)
>>> days.names[tree.feature], {c.feature: round(c.gain, 3) for c in tree.candidates}
('outlook', {0: 0.247, 1: 0.029, 2: 0.152, 3: 0.048})
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = [
    "SmallTable",
    "basketball",
    "body_weights",
    "buys_computer",
    "drug_dosage",
    "golf",
    "heart_disease",
    "play_tennis",
]

_PLAY = """
sunny     hot   high    weak    no
sunny     hot   high    strong  no
overcast  hot   high    weak    yes
rain      mild  high    weak    yes
rain      cool  normal  weak    yes
rain      cool  normal  strong  no
overcast  cool  normal  strong  yes
sunny     mild  high    weak    no
sunny     cool  normal  weak    yes
rain      mild  normal  weak    yes
sunny     mild  normal  strong  yes
overcast  mild  high    strong  yes
overcast  hot   normal  weak    yes
rain      mild  high    strong  no
"""
_GOLF = """
sunny     85  85  false  no
sunny     80  90  true   no
overcast  83  78  false  yes
rain      70  96  false  yes
rain      68  80  false  yes
rain      65  70  true   no
overcast  64  65  true   yes
sunny     72  95  false  no
sunny     69  70  false  yes
rain      75  80  false  yes
sunny     75  70  true   yes
overcast  72  90  true   yes
overcast  81  75  false  yes
rain      71  80  true   no
"""
_BUYS = """
youth   high    no   fair       no
youth   high    no   excellent  no
middle  high    no   fair       yes
senior  medium  no   fair       yes
senior  low     yes  fair       yes
senior  low     yes  excellent  no
middle  low     yes  excellent  yes
youth   medium  no   fair       no
youth   low     yes  fair       yes
senior  medium  yes  fair       yes
youth   medium  yes  excellent  yes
middle  medium  no   excellent  yes
middle  high    yes  fair       yes
senior  medium  no   excellent  no
"""
_BASKETBALL = """
yes  yes
no   yes
yes  no
no   no
yes  yes
"""
_HEART = """
no   no   no   125  no
yes  yes  yes  180  yes
yes  yes  no   210  no
yes  yes  ?    ?    no
"""
_WEIGHTS = """
1.6  blue   male    88
1.6  green  female  76
1.5  blue   female  56
"""
_DOSAGE = """
10  -10
20    7
25    8
35   -7
"""


@dataclass(frozen=True)
class SmallTable:
    """Rows of words and numbers (None: missing), their labels, and what they are called."""

    X: list[list[Any]]
    y: list[Any]
    names: tuple[str, ...]
    target: str
    source: str


def _read(text: str, names: str, source: str) -> SmallTable:
    rows = [[_value(word) for word in line.split()] for line in text.strip().splitlines()]
    *columns, target = names.split(", ")
    return SmallTable(
        [row[:-1] for row in rows], [row[-1] for row in rows], tuple(columns), target, source
    )


def _value(word: str) -> Any:
    if word == "?":
        return None
    try:
        return float(word)
    except ValueError:
        return word


def play_tennis() -> SmallTable:
    """Return the 14 days of play-tennis: outlook, temperature, humidity, wind.

    >>> play_tennis().X[0], play_tennis().y[0]
    (['sunny', 'hot', 'high', 'weak'], 'no')
    """
    names = "outlook, temperature, humidity, wind, play"
    return _read(_PLAY, names, "Quinlan, Induction of decision trees (1986)")


def golf() -> SmallTable:
    """Return the same days with temperature and humidity as numbers.

    >>> golf().X[0], golf().y[0]
    (['sunny', 85.0, 85.0, 'false'], 'no')
    """
    names = "outlook, temperature, humidity, windy, play"
    return _read(_GOLF, names, "Quinlan, C4.5: programs for machine learning (1993)")


def buys_computer() -> SmallTable:
    """Return 14 customers of a shop: age, income, student, credit.

    >>> buys_computer().X[0], buys_computer().y[0]
    (['youth', 'high', 'no', 'fair'], 'no')
    """
    names = "age, income, student, credit, buys"
    return _read(_BUYS, names, "Han and Kamber, Data mining: concepts and techniques")


def basketball() -> SmallTable:
    """Return five people: taller than 190 cm, and whether they play in the NBA.

    >>> from arboretum.textbook.impurities import information_gain
    >>> people = basketball()
    >>> round(information_gain(people.y, [tall for tall, in people.X]).gain, 5)
    0.01997
    """
    names = "taller than 190 cm, plays"
    return _read(_BASKETBALL, names, "study notes on key concepts: information gain")


def heart_disease() -> SmallTable:
    """Return four patients; of the last one, arteries and weight are missing.

    >>> heart_disease().X[3]
    ['yes', 'yes', None, None]
    """
    names = "chest pain, good circulation, blocked arteries, weight, heart disease"
    return _read(_HEART, names, "StatQuest: random forests, missing data")


def body_weights() -> SmallTable:
    """Return three people with their weights, whose mean 73.33 starts gradient boosting.

    >>> body_weights().y, round(sum(body_weights().y) / 3, 2)
    ([88.0, 76.0, 56.0], 73.33)
    """
    names = "height, favourite colour, gender, weight"
    return _read(_WEIGHTS, names, "StatQuest: gradient boosting for regression")


def drug_dosage() -> SmallTable:
    """Return four doses and how well they worked; from 0.5 the residuals add up to -4.

    >>> sum(effect - 0.5 for effect in drug_dosage().y)
    -4.0
    """
    return _read(_DOSAGE, "dosage, effectiveness", "StatQuest: XGBoost for regression")
