"""What surrounds the one compiled call that grows trees (engine/depth_first).

table    a table made ready once for any number of trees
grid     weights and targets as whole numbers, and the rules that go with them
arrays   arrays to grow on, and which kernels serve
nodes    grown nodes become trees
"""
