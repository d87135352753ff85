"""What every estimator is: parameters, samples of rows, members, progress, words."""
