"""Tables for the tests of ID3, and what is compared of its trees and files."""

import io

import numpy as np
import pandas as pd

from arboretum import ID3Classifier
from arboretum.textbook import play_tennis

WEATHER = pd.DataFrame(play_tennis().X, columns=play_tennis().names)
PLAY = pd.Series(play_tennis().y, name="play")


def shape(tree) -> list:
    """Return, in the order of reading, the path of every node and what it asks, or its classes."""
    return [(" & ".join(map(str, node.path)), node.name or node.value[0].tolist()) for node in tree]


def mixed() -> tuple[dict, np.ndarray]:
    rng = np.random.default_rng(7)
    number = rng.normal(size=80).round(1)
    word = rng.choice(["red", "green", "blue"], 80)
    return {"number": number, "word": word}, (number > 0.2) ^ (word == "red")


def saved(model: ID3Classifier) -> bytes:
    file = io.BytesIO()
    model.save(file)
    return file.getvalue()
