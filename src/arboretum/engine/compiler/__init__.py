"""Compiled kernels: how they are made, where they are kept, and what is compiled in advance.

decorators.py        how a plain Python function becomes compiled code
private.py           all that is used of Numba and llvmlite beyond their public API, with tested versions
by_reference.py      NamedTuples passed as one pointer
by_address.py        kernels that are compiled apart from the kernels that call them
cache.py             where compiled kernels are kept between runs
sources.py           a hash of the text that a kernel is made from
compiled_code.py     a compiled kernel as bytes, and its name
log.py               what this process has compiled, and the line that says so
packs.py             packs of kernels that come with the package
make_packs.py        making packs, for a wheel
signatures.py        what kernels are called with: recorded, written down (signatures.json), read back
warmup.py            compiling in advance, in several processes
"""
