"""What all estimators share: parameters, samples of rows, members of ensembles, progress, documentation."""
