"""The report: a fitted model and a table become one page that opens from disk."""
