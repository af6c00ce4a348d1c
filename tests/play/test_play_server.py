"""What the server accepts, and from whom."""

from __future__ import annotations

import asyncio
import base64
import re
import socket
from http.client import HTTPConnection
from urllib.error import HTTPError
from urllib.parse import urlparse
from urllib.request import urlopen

import pytest

pytest.importorskip("bokeh")

from play_server import served
from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClosedError, websocket_connect


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with served(tmp_path_factory.mktemp("played")) as address:
        yield address


def page_of(address):
    with urlopen(address) as answer:
        return answer.read().decode()


def token_of(address):
    return re.search(r'"token":"([^"]+)"', page_of(address)).group(1)


def origin_of(address):
    return "http://" + urlparse(address).netloc


def handshake(address, origin):
    """Ask for a web socket; return the status of the answer."""
    place = urlparse(address)
    connection = HTTPConnection(place.hostname, place.port, timeout=20)
    key = base64.b64encode(b"sixteen bytes ok").decode()
    headers = {
        "Origin": origin,
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": key,
        "Sec-WebSocket-Protocol": f"bokeh, {token_of(address)}",
    }
    connection.request("GET", place.path + "ws", headers=headers)
    status = connection.getresponse().status
    connection.close()
    return status


def test_it_listens_on_the_loopback_address_only(address):
    place = urlparse(address)
    assert place.hostname == "127.0.0.1"
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for other in others - {"127.0.0.1", "127.0.1.1"}:
        with socket.socket() as probe:
            probe.settimeout(1.0)
            assert probe.connect_ex((other, place.port)) != 0


def test_all_resources_are_local(address):
    text = page_of(address)
    for link in re.findall(r'(?:src|href)="([^"]+)"', text):
        assert not link.startswith(("http:", "https:", "//")) or link.startswith(address)
    assert "cdn." not in text


def test_a_path_that_is_not_known_finds_nothing(address):
    place = urlparse(address)
    for guess in ("/", "/play/", "/autoload.js", "/static/js/bokeh.min.js"):
        with pytest.raises(HTTPError) as refused:
            urlopen(f"http://{place.netloc}{guess}")
        assert refused.value.code == 404
        refused.value.close()


def test_another_origin_is_refused(address):
    assert handshake(address, origin_of(address)) == 101
    for origin in ("http://evil.example", "http://localhost.evil.example", "null"):
        assert handshake(address, origin) == 403


@pytest.mark.parametrize("message", ["x" * (3 << 20), "garbage", '{"msgtype": "PATCH-DOC"}', "[[[["])
def test_huge_and_garbled_messages_end_the_connection_and_nothing_else(address, message):
    url = address.replace("http:", "ws:") + "ws"
    headers = {"Origin": origin_of(address), "Sec-WebSocket-Protocol": f"bokeh, {token_of(address)}"}

    async def send():
        connection = await websocket_connect(HTTPRequest(url, headers=headers))
        try:
            assert await connection.read_message() is not None
            for _ in range(4):  # a message of the protocol has several parts
                await connection.write_message(message)
            while await asyncio.wait_for(connection.read_message(), 20) is not None:
                pass
        except WebSocketClosedError:
            pass
        finally:
            connection.close()
            await asyncio.sleep(0.1)

    asyncio.run(send())  # ends because the server has closed the connection
    assert "mercer play" in page_of(address)
