"""The exact solution for every value of a regularisation parameter."""
