"""From the optimum of one problem to that of the next: rows come, rows go, prices and sums change."""
