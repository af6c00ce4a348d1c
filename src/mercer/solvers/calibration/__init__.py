"""How decision values become probabilities: links and sigmoids by Newton's method, pairs by pivoting."""
