"""What the command's exit codes mean."""

DONE, FAILED, WRONG, MISSING, PARTIAL, BROKEN, INTERRUPTED = 0, 1, 2, 3, 4, 70, 130
CODES = (
    "0 done; 1 a check did not hold (verify); 2 the command line or the data are wrong; 3 an optional "
    "package is missing; 4 interrupted, and what was reached is written (--keep-partial); 70 a bug; "
    "130 interrupted, and nothing is written."
)
