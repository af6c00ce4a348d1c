"""Records that files may name where they used to stand."""

from __future__ import annotations

MOVED = {
    "mercer.estimators.discriminant._class_spectra:ClassSpectra": (
        "mercer.problems.discriminant.spectra:ClassSpectra"
    ),
    "mercer.estimators.discriminant._sphering:Sphering": "mercer.problems.discriminant.spectra:Sphering",
}
