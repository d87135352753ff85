"""Worksheets: the arithmetic behind a fitted model, with its numbers (`arboretum.worksheet`).

worksheet.py    the object that is asked             sheet.py        what it answers
family.py       what all families share              rendering.py    a sheet as text and HTML
grown.py        nodes and leaves of CART's trees     candidates.py   what a node could have asked
replay.py       a round of boosting, played again    draws.py        what a node drew, drawn again
journey.py      a row's way down a tree

one family each: cart.py  c45.py  forest.py  adaboost.py  gradient.py  second_order.py  combine.py
"""
