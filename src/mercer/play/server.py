"""Serve the page to the person who started it, and to nobody else.

The server listens on the loopback address only, under a path that cannot be guessed; web sockets are
accepted from that page's own origin; messages are small; all scripts come from this server.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

from bokeh.application import Application
from bokeh.application.handlers.function import FunctionHandler
from bokeh.document import Document
from bokeh.models import Div
from bokeh.server.server import Server

from mercer.play.catalogue import Settings
from mercer.play.file_rows import FileRows
from mercer.play.fitted_view import fit_view
from mercer.play.page import Page
from mercer.play.presets import preset

__all__ = ["HOST", "make_server", "serve"]

HOST = "127.0.0.1"
LARGEST_MESSAGE = 2 << 20  # bytes; the largest board takes a tenth of it
MOST_PAGES = 32  # open at a time: one person with many tabs

TEMPLATE = """{% block preamble %}
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root { color-scheme: light; --ground: #ffffff; --ink: #222222; --faint: #cccccc; --warn: #8a4b00; }
:root[data-theme="dark"] {
  color-scheme: dark; --ground: #15191c; --ink: #e8e8e8; --faint: #3a4045; --warn: #ffb454;
}
html, body { background: var(--ground); color: var(--ink); font: 15px/1.45 system-ui, sans-serif; }
body { margin: 0.5rem; }
</style>
{% endblock %}"""


def make_server(folder: Path, rows: FileRows | None = None, port: int = 0) -> tuple[Server, str]:
    """Return a server that is not started yet, and the address of its page.

    Parameters
    ----------
    folder : Path
        Where "save model" writes.
    rows : FileRows, optional
        The person's own file.
    port : int
        0 for any that is free.
    """
    # Both ends of the address are known before the server exists only if the port is: it is bound first.
    from bokeh.server.util import bind_sockets

    sockets, bound = bind_sockets(HOST, port)
    for one in sockets:
        one.close()
    secret = secrets.token_urlsafe(16)

    def fill(document: Document) -> None:
        document.template = TEMPLATE
        if len(server.get_sessions()) > MOST_PAGES:
            document.add_root(Div(text=f"More than {MOST_PAGES} pages are open: close some and reload."))
            return
        Page(document, folder, rows)

    server = Server(
        {"/": Application(FunctionHandler(fill))},
        address=HOST,
        port=bound,
        prefix=f"/{secret}",
        allow_websocket_origin=[f"{HOST}:{bound}"],
        websocket_max_message_size=LARGEST_MESSAGE,
        check_unused_sessions_milliseconds=2000,
        unused_session_lifetime_milliseconds=4000,
    )
    return server, f"http://{HOST}:{bound}/{secret}/"


def serve(folder: Path, rows: FileRows | None = None, port: int = 0, ready: Any = None) -> None:
    """Serve the page until Ctrl-C.

    Parameters
    ----------
    folder : Path
        Where "save model" writes.
    rows : FileRows, optional
        The person's own file.
    port : int
        0 for any that is free.
    ready : callable, optional
        Called with the page's address once it is served.
    """
    fit_view(
        preset("Two Gaussians")[1], Settings()
    )  # what must be compiled is compiled before somebody waits
    server, address = make_server(folder, rows, port)
    server.start()
    try:
        if ready is not None:
            ready(address)
        server.io_loop.start()
    finally:
        server.stop()
