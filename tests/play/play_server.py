"""The page, served in a thread of the test's own process."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager

from mercer.play.server import make_server


@contextmanager
def served(folder, rows=None):
    """Yield the address of a page that is served while the block runs."""
    ready, found = threading.Event(), {}

    def work():
        asyncio.set_event_loop(asyncio.new_event_loop())
        server, found["address"] = make_server(folder, rows)
        found["server"] = server
        server.start()
        server.io_loop.add_callback(ready.set)
        server.io_loop.start()
        server.io_loop.close(all_fds=True)

    def end():
        found["server"].stop()
        found["server"].io_loop.stop()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert ready.wait(60)
    try:
        yield found["address"]
    finally:
        found["server"].io_loop.add_callback(end)
        thread.join(30)
        assert not thread.is_alive()
