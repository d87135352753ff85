"""Compiled kernels: what they are called, where they come from, and who is told when they are made.

decorators.py        how a plain Python function becomes compiled code
linking.py           what a kernel calls is linked into it
by_reference.py      NamedTuples handed over as one pointer
cache.py             where compiled kernels are kept between runs
compiled_code.py     a compiled kernel as bytes, under a name made of all it was made from
log.py               what this process has compiled, and the line that says so
by_address.py        kernels that are compiled apart from the kernels that call them
packs.py             packs of kernels that come with the package
make_packs.py        making packs, for a wheel
signatures.py        what kernels are called with: recorded, written down (signatures.json), read back
compiler_process.py  a process that compiles what it is told
side_by_side.py      such processes help a first fit
warmup.py            compiling ahead, in several processes
"""
