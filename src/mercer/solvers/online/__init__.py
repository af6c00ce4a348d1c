"""Learning from a stream of examples."""
