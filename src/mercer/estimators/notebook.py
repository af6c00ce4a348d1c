"""What a notebook shows of a machine: scikit-learn's diagram, and under it how good the fit is."""

from __future__ import annotations

import math
from html import escape
from typing import Any

from sklearn.utils import estimator_html_repr

from mercer.problems import Certificate

BOX = "margin:4px 0;padding:4px 10px;border-left:3px solid {edge};font-family:sans-serif;font-size:0.9em"
TONES = {"optimal": "#009e73", "stationary": "#e69f00"}  # any other status is a limit that was hit
CELL = "text-align:left;padding:1px 12px 1px 0"


class CertifiedRepr:
    """Adds the certificate to scikit-learn's HTML representation; without one it is scikit-learn's."""

    def _html_repr(self) -> str:
        diagram: str = estimator_html_repr(self)
        certificate = getattr(self, "certificate_", None)
        return diagram if certificate is None else diagram + certificate_html(certificate)


def certificate_html(certificate: Certificate) -> str:
    """Return a certificate as HTML: the verdict, and the numbers behind it, folded."""
    edge = TONES.get(certificate.status, "#d55e00")
    rows = [*_numbers(certificate), ("steps", str(certificate.n_iter))]
    parts = certificate.parts if len(certificate.parts) > 1 else ()
    if parts:
        worst = max(parts, key=lambda part: _order(part.relative_gap))
        rows.append(("two-class problems", f"{len(parts)}; the worst: {worst}"))
    body = "".join(
        f'<tr><td style="{CELL}">{escape(name)}</td><td style="{CELL}">{escape(value)}</td></tr>'
        for name, value in rows
    )
    return (
        f'<div style="{BOX.format(edge=edge)}"><details><summary><b>Certificate</b> '
        f"{escape(str(certificate))}</summary><table>{body}</table></details></div>"
    )


def _numbers(certificate: Certificate) -> list[tuple[str, str]]:
    named: list[tuple[str, Any]] = [
        ("primal: the objective of this machine", certificate.primal),
        ("dual: no machine has a lower objective", certificate.dual),
        ("gap: primal - dual", certificate.gap),
        ("largest violation of the optimality conditions", certificate.kkt_violation),
    ]
    return [(name, f"{value:.6g}" if math.isfinite(value) else "unknown") for name, value in named]


def _order(value: float) -> float:
    return math.inf if math.isnan(value) else value
