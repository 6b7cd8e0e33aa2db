#!/usr/bin/env python3
"""A TCP proxy between replicas and their database that can be told to fail.

    proxy.py HOST:PORT COUNT

Opens COUNT ports on loopback, prints them on one line, and takes commands from standard input, each answered by a
line "ok":

    reset N   every connection through port N ends at once, with RST at both ends
    stall N   nothing is passed on any more, in either direction; connections stay, new ones are taken and stay silent
    deaf N    requests are passed on, answers are not: what was asked is done, and nobody is told
    go N      as before; what was held back is passed on

It is a process of its own so that clients in the tests' process do not slow the replicas down.
"""
import asyncio, socket, struct, sys


class Gate:
    """One port: whether bytes may pass to the server and back, and the connections through it."""

    def __init__(self):
        self.forth, self.back = asyncio.Event(), asyncio.Event()
        self.open(True, True)
        self.writers = set()

    def open(self, forth, back):
        for event, passes in ((self.forth, forth), (self.back, back)):
            event.set() if passes else event.clear()

    def reset(self):
        for writer in list(self.writers):
            connection = writer.get_extra_info("socket")
            if connection is not None:
                try:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                except OSError:
                    pass
            writer.transport.abort()


async def pump(reader, writer, event):
    """Ends with its reader or writer."""
    try:
        while data := await reader.read(1 << 16):
            await event.wait()
            writer.write(data)
            await writer.drain()
        await event.wait()      # the end of a connection is news too
    except (OSError, asyncio.IncompleteReadError):
        pass


async def serve(gate, host, port, reader, writer):
    try:
        upstream_reader, upstream_writer = await asyncio.open_connection(host, port)
    except OSError:
        writer.transport.abort()
        return
    pair = {writer, upstream_writer}
    gate.writers |= pair
    for end in pair:
        end.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    pumps = [asyncio.ensure_future(pump(reader, upstream_writer, gate.forth)),
             asyncio.ensure_future(pump(upstream_reader, writer, gate.back))]
    await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
    for task in pumps:
        task.cancel()
    gate.writers -= pair
    for end in pair:
        end.close()


async def main():
    host, port = sys.argv[1].rsplit(":", 1)
    gates = [Gate() for _ in range(int(sys.argv[2]))]
    servers = [await asyncio.start_server(lambda r, w, gate=gate: serve(gate, host, int(port), r, w), "127.0.0.1", 0)
               for gate in gates]
    print(*(server.sockets[0].getsockname()[1] for server in servers), flush=True)
    commands = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(commands), sys.stdin)
    while line := await commands.readline():
        word, number = line.decode().split()
        gate = gates[int(number)]
        if word == "reset":
            gate.reset()
        else:
            gate.open(*{"stall": (False, False), "deaf": (True, False), "go": (True, True)}[word])
        print("ok", flush=True)


asyncio.run(main())
