"""Saving models to files.

    native.py     save and load: an estimator becomes a document and back
    values.py     parameter values (tuples, infinities, random states ...) as plain JSON values
    container.py  a document of JSON values and arrays becomes one checked file, written atomically

No file is ever trusted and nothing is unpickled: any bytes give a model or a `ModelFileError`.
"""
