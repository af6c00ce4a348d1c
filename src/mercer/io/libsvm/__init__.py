"""Model files of LIBSVM: their text, and what it says as an estimator."""
