"""Regression by sums of splines: hinges and their products, natural cubic splines, what they cost."""
