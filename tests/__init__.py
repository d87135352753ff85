"""The tests, one package, so that helpers are imported by their full name:
tests.boosting.friedman.gbm_cases."""
