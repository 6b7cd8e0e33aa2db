"""Clients of several replicas: what they ask, whom, and what they remember of the answers.

A client repeats a request with the same idempotency key, at another replica, until some answer says what
became of it. A few give up instead, so that there are also changes that nobody was told about.
"""
import http.client, json, random, socket, threading, time

from history import Operation, Read, cpu_of

POOL = "big"
NAMES = ("alpha", "beta", "gamma", "delta")
REPLY_WAIT = 5.0        # a replica may be stopped for longer: the client goes elsewhere, the request may still be done


class Journal:
    """What all clients did: appended to by many threads, read when they have ended."""

    def __init__(self):
        self.lock = threading.Lock()
        self.operations, self.reads, self.leases = [], [], []
        self.answered = self.acknowledged = self.tries = 0
        self.last_acknowledged = time.time()
        self.longest_silence = 0.0
        self.strange = []       # answers that no rule foresees

    def note(self, changed):
        with self.lock:
            self.answered += 1
            if changed:
                now = time.time()
                self.acknowledged += 1
                self.longest_silence = max(self.longest_silence, now - self.last_acknowledged)
                self.last_acknowledged = now


class Client(threading.Thread):
    def __init__(self, number, seed, ports, token, journal, stop, only_reads=False):
        super().__init__(daemon=True)
        self.number, self.ports, self.token, self.journal, self.stop = number, ports, token, journal, stop
        self.random = random.Random(f"{seed} client {number}")
        self.reads = 1.0 if only_reads else 0.3
        self.connections = {}
        self.made = 0

    def run(self):
        try:
            while not self.stop.is_set():
                self.step()
        except Exception as problem:     # a client that dies would only make the run quieter
            self.journal.strange.append(f"client {self.number} ended: {problem!r}")
            raise

    def step(self):
        if self.random.random() < self.reads:
            self.read(self.random.choice(NAMES))
        elif self.random.random() < 0.5:
            self.set(self.random.choice(NAMES))
        else:
            self.place_or_release()

    def key(self):
        self.made += 1
        return f"c{self.number}-{self.made}"

    def read(self, name):
        replica = self.random.randrange(len(self.ports))
        sent = time.time()
        answer = self.ask(replica, "GET", f"/api/v1/hardware-profiles/{name}")
        if answer is None or answer[0] != 200:
            return
        body = json.loads(answer[1])
        self.journal.note(False)
        self.journal.reads.append(Read(name, sent, time.time(), replica, body["version"], body["description"]))

    def set(self, name):
        key = self.key()
        self.change(Operation("set", key, time.time(), name), "POST", f"/api/v1/hardware-profiles/{name}/versions",
                    {"accelerator_family": "cpu", "cpu": cpu_of(key), "description": key})

    def place_or_release(self):
        """Keeps the pool near full: that is where devices would be given twice."""
        with self.journal.lock:
            count = len(self.journal.leases)
            lease = self.journal.leases.pop(self.random.randrange(count)) if count and self.random.random() < 0.5 else None
        if lease:
            release = Operation("release", self.key(), time.time(), lease)
            self.change(release, "DELETE", f"/api/v1/leases/{lease}", None)
            if not release.answers:
                with self.journal.lock:
                    self.journal.leases.append(lease)
            return
        key = self.key()
        # some expire by themselves, and what nobody knows of any more is not held for long
        ttl = "3s" if self.random.random() < 0.2 else "30s"
        operation = Operation("place", key, time.time(), "w-" + key)
        self.change(operation, "POST", "/api/v1/placements",
                    {"name": "w-" + key, "accelerator": "nvidia", "gpus": self.random.randint(1, 4), "reserve": True,
                     "no_fallback": True, "ttl": ttl})
        done = operation.acknowledged()
        if done and (given := json.loads(done[3])["lease"]) and ttl != "3s":
            with self.journal.lock:
                self.journal.leases.append(given["id"])

    def change(self, operation, method, path, body):
        patience = self.random.choice((1, 2, 60, 60, 60, 60, 60, 60))
        self.journal.operations.append(operation)
        replica = self.random.randrange(len(self.ports))
        text = None if body is None else json.dumps(body)
        for tried in range(patience):
            answer = self.ask(replica, method, path, text, operation.key)
            self.journal.tries += 1
            if answer and answer[0] < 500 and answer[0] != 429:
                operation.answers.append((time.time(), replica, *answer))
                self.journal.note(answer[0] < 300)
                break
            if self.stop.is_set() and not answer:
                break
            replica = (replica + 1) % len(self.ports)
            # longer each time: a replica goes on with what a client gave up, so repeats pile up there
            time.sleep(min(3.0, 0.1 * 2 ** tried) * (0.5 + self.random.random()))
        # an answer may also be lost on its way: one in ten asks again, somewhere
        if operation.answers and self.random.random() < 0.1:
            other = self.random.randrange(len(self.ports))
            again = self.ask(other, method, path, text, operation.key)
            if again and again[0] < 500:
                operation.answers.append((time.time(), other, *again))

    def ask(self, replica, method, path, body=None, key=None):
        """(status, body), or None when there was no answer."""
        headers = {"Authorization": "Bearer " + self.token}
        if key:
            headers["Idempotency-Key"] = key
        if body is not None:
            headers["Content-Type"] = "application/json"
        connection = self.connections.pop(replica, None)
        try:
            if connection is None:
                connection = http.client.HTTPConnection("127.0.0.1", self.ports[replica], timeout=REPLY_WAIT)
                connection.connect()
                connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.request(method, path, body, headers)
            reply = connection.getresponse()
            text = reply.read().decode()
        except (OSError, http.client.HTTPException):
            if connection is not None:
                connection.close()
            if not self.stop.is_set():
                time.sleep(0.02)
            return None
        if not reply.will_close:
            self.connections[replica] = connection
        if 400 <= reply.status < 500 and reply.status != 429:
            self.journal.strange.append(f"{method} {path} {key}: {reply.status} {text}")
        return reply.status, text
