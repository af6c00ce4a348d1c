"""What the command's exit codes mean."""

DONE, FAILED, WRONG, MISSING, PARTIAL, BROKEN, INTERRUPTED = 0, 1, 2, 3, 4, 70, 130
CODES = (
    "0 success; 1 a certificate does not hold (verify); 2 invalid command line or data; 3 an optional "
    "package is missing; 4 interrupted, partial results written (--keep-partial); 70 a bug; "
    "130 interrupted, nothing written."
)
