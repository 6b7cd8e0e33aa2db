"""Clients that are slow, many or gone, and what the others see of them.

The limits are those of src/server/limits.h. Only slow clients wait for the clock, all of them at the same time.
"""
import select
import socket
import threading
import time

from serving import SLACK
from wire import quantile, read_answer, request

HEAD_TIME, BODY_TIME, WRITE_TIME = 10.0, 60.0, 30.0  # seconds
PATIENCE_OF_OTHERS = 0.5  # p99, seconds, beyond what the machine takes when nobody misbehaves


class Bystander(threading.Thread):
    """An honest client, measured while others misbehave."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server, self.times, self.problem, self.over = server, [], None, threading.Event()
        self.alone = 0.0  # p99 before the others come

    def run(self):
        try:
            with self.server.connect("unix") as kept, kept.makefile("rb") as file:
                while not self.over.wait(0.01):
                    for path in ("/healthz", "/api/v1/projects"):
                        started = time.monotonic()
                        kept.sendall(request(f"GET {path} HTTP/1.1"))
                        assert read_answer(file).status == 200
                        self.times.append(time.monotonic() - started)
                    started = time.monotonic()
                    with self.server.connect() as fresh, fresh.makefile("rb") as answers:
                        fresh.sendall(request())
                        assert read_answer(answers).status == 200
                    self.times.append(time.monotonic() - started)
        except Exception as problem:  # shown by the test that waits
            self.problem = problem

    def __enter__(self):
        self.start()
        time.sleep(1)
        self.alone, self.times = quantile(self.times or [0.0], 0.99), []
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()

    def check(self):
        assert self.problem is None, f"an honest client failed: {self.problem!r}"
        p99 = quantile(self.times, 0.99)
        said = f"p99 of {len(self.times)} honest requests {p99 * 1000:.1f} ms, before it {self.alone * 1000:.1f} ms"
        assert p99 < PATIENCE_OF_OTHERS + self.alone, said
        return said


def drip(links, begin, piece, within):
    """Sends `piece` on every link once a second. Gives seconds until the first and the last were cut."""
    started, cut = time.monotonic(), {}
    for link in links:
        link.sendall(begin)
        link.setblocking(False)
    while len(cut) < len(links) and time.monotonic() - started < within:
        time.sleep(1)
        for link in links:
            if link in cut:
                continue
            try:
                if piece:
                    link.send(piece)
                if link.recv(4096) == b"":
                    cut[link] = time.monotonic() - started
            except BlockingIOError:
                pass
            except OSError:
                cut[link] = time.monotonic() - started
    assert len(cut) == len(links), f"{len(links) - len(cut)} of {len(links)} slow clients were still served after {within:.0f} s"
    return min(cut.values()), max(cut.values())


def never_reads(server, begin, within):
    """Asks for ever more and reads nothing; gives seconds from the first answer that got stuck until the cut."""
    link = server.connect(receive_buffer=4096)
    link.setblocking(False)
    started = stuck = time.monotonic()
    poll = select.poll()
    poll.register(link, select.POLLERR | select.POLLHUP)
    while time.monotonic() - started < within:
        try:
            link.send(begin * 64)
            stuck = time.monotonic()
        except BlockingIOError:
            pass
        except OSError:
            return time.monotonic() - stuck
        if poll.poll(100):
            return time.monotonic() - stuck
    raise AssertionError(f"a client that reads nothing was still served after {within:.0f} s")


def slow_clients_are_cut_and_others_do_not_wait(server, long):
    count = 250 if long else 60
    head = request()[:10]
    body = request("POST /api/v1/projects/slow HTTP/1.1", "Content-Length: 1000", "Content-Type: application/json")
    plans = {"heads that drip": lambda: drip([server.connect() for _ in range(count)], head, b"a", HEAD_TIME + SLACK),
             "heads that never begin": lambda: drip([server.connect() for _ in range(count)], b"", b"", HEAD_TIME + SLACK)}
    if long:
        plans["bodies that drip"] = lambda: drip([server.connect() for _ in range(count)], body, b" ", BODY_TIME + SLACK)
        plans["bodies that drip, socket"] = \
            lambda: drip([server.connect("unix") for _ in range(count)], body, b" ", BODY_TIME + SLACK)
        plans["answers nobody reads"] = lambda: never_reads(server, request("GET /metrics HTTP/1.1"),
                                                            WRITE_TIME + BODY_TIME + SLACK)
    outcomes = {}

    def follow(name, plan):
        try:
            outcomes[name] = plan()
        except Exception as problem:
            outcomes[name] = problem

    with Bystander(server) as bystander:
        threads = [threading.Thread(target=follow, args=pair) for pair in plans.items()]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for name, result in outcomes.items():
        if isinstance(result, Exception):
            raise AssertionError(f"{name}: {result}") from result
    said = "; ".join(f"{name} cut after {result[0]:.0f}-{result[1]:.0f} s" if isinstance(result, tuple)
                     else f"{name} cut {result:.0f} s after the last byte was taken" for name, result in outcomes.items())
    return f"{said}; {bystander.check()}"


def descriptors_left(server, before, most):
    """How many more than `before` are open once clients have gone; within some seconds no more than `most`."""
    deadline = time.monotonic() + 5 + SLACK
    while server.descriptors() > before + most and time.monotonic() < deadline:
        time.sleep(0.05)
    left = server.descriptors() - before
    assert left <= most, f"{left} descriptors are left open"
    return left


def a_thousand_idle_connections_cost_little(server, count=1000):
    before_memory, before_descriptors = server.memory(), server.descriptors()
    links = []
    with Bystander(server) as bystander:
        for _ in range(count):
            link = server.connect()
            link.sendall(request())
            links.append(link)
        for link in links:  # each has been served and is kept
            with link.makefile("rb") as file:
                assert read_answer(file).status == 200
        grown = server.memory() - before_memory
        time.sleep(1)
    each = grown / count
    assert each < 32 << 10, f"an idle connection costs {each / 1024:.0f} KiB"
    for link in links:
        link.close()
    left = descriptors_left(server, before_descriptors, most=8)
    return f"{count} idle connections: {each / 1024:.1f} KiB each, {left} descriptors left, {bystander.check()}"


def clients_that_vanish_leave_nothing(server, count=300):
    before = server.descriptors()
    pieces = (b"", b"GET", request()[:-2], request(),
              request("POST /api/v1/projects/gone HTTP/1.1", "Content-Length: 99", body="{"))
    for turn in range(count):
        link = server.connect("unix" if turn % 2 else "tcp")
        link.sendall(pieces[turn % len(pieces)])
        if turn % 3 == 0 and link.family == socket.AF_INET:  # a reset instead of an orderly end
            link.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        link.close()
    left = descriptors_left(server, before, most=4)
    return f"{count} clients that vanished left {left} descriptors"


def without_descriptors_it_waits_and_comes_back(server, count=100):
    """`server` may open few files: more clients than that come at once, on both addresses."""
    links = []
    for turn in range(count):
        link = server.connect("unix" if turn % 2 else "tcp", timeout=1.0)
        links.append(link)
    time.sleep(0.5)
    used = server.cpu_seconds()
    time.sleep(2)
    used = server.cpu_seconds() - used
    for link in links:
        link.close()
    assert used < 0.5, f"it spent {used:.1f} s of CPU in 2 s on waiting for a descriptor"
    deadline = time.monotonic() + 5 + SLACK
    for transport in ("tcp", "unix"):
        while True:
            try:
                with server.connect(transport, timeout=2.0) as link, link.makefile("rb") as file:
                    link.sendall(request())
                    if read_answer(file):
                        break
            except OSError:
                pass
            assert time.monotonic() < deadline, f"{transport} does not come back"
    return f"out of descriptors it used {used * 1000:.0f} ms of CPU in 2 s and came back"
