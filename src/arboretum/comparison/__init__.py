"""Which model for a table, and why: every model on the same folds, judged alike.

question.py     the table, its target and the task
candidates.py   the models and the baselines, cheap ones first
folds.py        who learns from which rows and is tested on which
scores.py       the figures of one fold
running.py      candidate × fold → trials; time limit, failures, Ctrl-C
intervals.py    means, intervals and paired differences of scores of folds
result.py       the result object
sentences.py    the result in words
page.py         the result as a page
"""
