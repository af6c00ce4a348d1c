"""What discriminant analysis optimises: class summaries, Gaussian models, scores, and the rules they give."""
