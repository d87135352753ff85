"""Worksheets: the arithmetic behind a fitted model, with its numbers (`arboretum.worksheet`).

worksheet.py    the object with the methods            sheet.py        what they return
family.py       what all families share                rendering.py    a sheet as text and HTML
grown.py        nodes and leaves of CART's trees       candidates.py   the splits a node could have had
journey.py      a row's way down a tree                draws.py        what a node drew, drawn again

families/       one family of models each
"""
