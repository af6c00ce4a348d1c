"""A local page to play on: draw points, choose a machine, watch boundary, margin and certificate.

It needs bokeh: ``pip install "mercer[play]"``. The command ``mercer play`` opens it.
"""

from __future__ import annotations

from mercer.play.file_rows import FileRows
from mercer.play.server import serve

__all__ = ["FileRows", "serve"]
