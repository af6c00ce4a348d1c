"""Examples that do to their process what the watchdog is for; little is imported, so that they start fast."""

import os

from .report import Report


class Endless:
    place = "endless"

    def run(self):
        while True:
            pass


class Deadly:
    place = "deadly"

    def run(self):
        os._exit(3)


class Harmless:
    def run(self):
        return Report(ending="done")
