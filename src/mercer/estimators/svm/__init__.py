"""Support vector machines: classifiers, regressors, novelty detectors and regularisation paths."""
