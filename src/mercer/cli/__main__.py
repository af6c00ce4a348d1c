"""``python -m mercer.cli``."""

from mercer.cli import main

main()
