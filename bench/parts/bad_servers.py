"""Servers that break every rule: what each sends, how it ends, and which outcomes a client may call it.

As a program it starts them all, prints their ports as JSON and serves until it is ended.
"""

import asyncio
import json
import socket
import struct

BIG = "too_large"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
TEXT = b'data: {"choices":[{"index":0,"text":" x"}]}\n\n'
DONE = b"data: [DONE]\n\n"


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def length(body, status=b"200 OK", more=b""):
    return b"HTTP/1.1 " + status + b"\r\n" + more + b"Content-Length: %d\r\n\r\n" % len(body) + body


def scenes():
    """(name, bytes, end, outcomes): `end` is close, reset, hang or drip (a byte each 50 ms); large ones are
    made when they are sent."""
    found = []

    def add(name, data, end, *outcomes):
        found.append((name, data, end, set(outcomes)))

    good = chunk(TEXT)
    for count in (0, 1, 2, 5, 20, 100):  # a stream that is cut off after so many events
        add(f"reset after {count} events", CHUNKED + good * count, "reset", "reset")
        add(f"closed after {count} events", CHUNKED + good * count, "close", "closed_early")
        add(f"silent after {count} events", CHUNKED + good * count, "hang", "timed_out")
        add(f"no [DONE] after {count} events", CHUNKED + good * count + b"0\r\n\r\n", "close", "bad_stream")
    for cut in (1, 5, 12, 20, 40, len(HEAD)):  # half a head
        add(f"head cut at {cut}", HEAD[:cut], "close", "closed_early")
        add(f"head reset at {cut}", HEAD[:cut], "reset", "reset")
    for cut in (1, 2, 4, 10, len(good) - 1):  # half a chunk
        add(f"chunk cut at {cut}", CHUNKED + good + good[:cut], "close", "closed_early")
    for status in (400, 401, 403, 404, 408, 413, 429, 500, 502, 503, 504, 599):
        add(f"status {status}", length(b"no", b"%d No" % status), "close", "http_error")
    for status in (300, 301, 302, 303, 307, 308):
        moved = length(b"", b"%d Elsewhere" % status, b"Location: http://127.0.0.1:1/\r\n")
        add(f"status {status}", moved, "close", "redirected")
    texts = (b"NaN", b"[" * 99_999, b'{"choices":[NaN]}', b"{", b"[1,", b'"\xff"', b"Infinity", b"nul", b"{'a':1}")
    for body in texts:
        add(f"not JSON: {body[:12]}", CHUNKED + chunk(b"data: " + body + b"\n\n"), "close", "bad_stream")
        add(f"whole, not JSON: {body[:12]}", length(body, more=b"X-Kind: whole\r\n"), "close", "bad_stream")
    add("error in the stream", CHUNKED + chunk(b'data: {"error":{"message":"no memory"}}\n\n'), "close", "server_error")
    add("error as text", CHUNKED + chunk(b'data: {"error":"no"}\n\n'), "close", "server_error")
    for size in (1 << 18, 1 << 20, 10 << 20):  # lines without end
        add(f"line of {size} bytes", lambda n=size: CHUNKED + chunk(b"data: " + b"x" * n), "close", "too_large")
        add(f"header of {size} bytes", lambda n=size: b"HTTP/1.1 200 OK\r\nX: " + b"x" * n, "close", "too_large")
        add(f"chunk size of {size} digits", lambda n=size: CHUNKED + b"0" * n, "close", "too_large")
        add(f"trailers of {size} bytes", lambda n=size: CHUNKED + b"0\r\n" + b"X: y\r\n" * (n // 6), "close", BIG)
    add("body of 10 MB", lambda: length(b"x" * (10 << 20)), "close", "too_large")
    fields = (
        b"Content-Length: -1",
        b"Content-Length: x",
        b"Content-Length: 99999999999999999999",
        b"Content-Length: 1\r\nContent-Length: 2",
        b"Transfer-Encoding: gzip",
        b"no colon",
        b": no name",
    )
    for words in fields:
        add(f"field {words}", b"HTTP/1.1 200 OK\r\n" + words + b"\r\n\r\n{}", "close", "bad_response")
    starts = (b"HTTP/2 200 OK", b"HTTP/1.1", b"HTTP/1.1 2x0 OK", b"ICY 200", b"SSH-2.0", b"\0" * 9, b"HTTP/1.1 101 X")
    for line in starts:
        add(f"status line {line[:16]}", line + b"\r\n\r\n", "close", "bad_response")
    for size in (b"zz", b"-1", b"", b"1 2 3x", b"fffffffffffffffff"):
        add(f"chunk size {size}", CHUNKED + size + b"\r\n" + TEXT, "close", "bad_response", "closed_early")
    add("length too long", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}", "close", "closed_early")
    add("length too long, and silent", b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{}", "hang", "timed_out")
    add("length too short", b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n{}", "close", "bad_stream")
    add("nothing", b"", "close", "closed_early")
    add("nothing, and silent", b"", "hang", "timed_out")
    add("nothing, and a reset", b"", "reset", "reset")
    add("slow head", HEAD * 50, "drip", "timed_out")
    add("slow stream", CHUNKED + good * 50, "drip", "timed_out")
    return found


class BadServers:
    """All of them on ports of their own, in one loop."""

    def __init__(self):
        self.servers = []

    async def start(self, every):
        for _, data, end, _ in every:

            async def serve(reader, writer, data=data, end=end):
                try:
                    while await reader.readuntil(b"\r\n\r\n") and await reader.read(65536):
                        await self.answer(reader, writer, data, end)
                        break
                except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
                    pass
                writer.close()

            self.servers.append(await asyncio.start_server(serve, "127.0.0.1", 0, backlog=1000))
        return [server.sockets[0].getsockname()[1] for server in self.servers]

    @staticmethod
    async def answer(reader, writer, data, end):
        if end == "drip":
            for at in range(len(data)):
                writer.write(data[at : at + 1])
                await writer.drain()
                await asyncio.sleep(0.05)
        if end != "drip":
            writer.write(data() if callable(data) else data)
            await writer.drain()
        if end == "hang":
            await reader.read()  # until the client goes
        if end == "reset":
            # What was sent is read first: the reset is for what follows.
            await asyncio.sleep(0.02)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()


async def main():
    print(json.dumps(await BadServers().start(scenes())), flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main())
