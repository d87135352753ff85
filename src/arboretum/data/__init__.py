"""A table becomes numbers: reading, column kinds, category codes, targets and weights.

    X  ──table──▶  raw columns  ──schema──▶  Schema (kept with the model)  +  Matrix (numbers only)
    y  ──target─▶  class codes, or numbers

`table` reads anything that looks like a table, `values` holds the two forms of a raw column,
`schema` determines the kind of each column and encodes new tables as the training table was encoded,
`matrix` is the form the engine reads.
"""

from arboretum.data.matrix import DenseMatrix, FrameMatrix, Matrix, SparseMatrix
from arboretum.data.schema import Column, Schema, encode, learn_schema
from arboretum.data.table import Table, read_table
from arboretum.data.target import encode_classes, numbers, weights

__all__ = [
    "Column",
    "DenseMatrix",
    "FrameMatrix",
    "Matrix",
    "Schema",
    "SparseMatrix",
    "Table",
    "encode",
    "encode_classes",
    "learn_schema",
    "numbers",
    "read_table",
    "weights",
]
