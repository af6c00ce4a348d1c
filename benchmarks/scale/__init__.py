"""Machines on features at scale: time, objective and memory against LIBLINEAR and scikit-learn."""
