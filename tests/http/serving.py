"""Starts `exa serve` on a folder of its own and talks to it byte by byte, for the tests that need more (or less)
than an HTTP client would send."""
import json
import os
import re
import signal
import socket
import subprocess
import tempfile
import threading
import time

SLACK = 5.0  # seconds that a loaded machine may add to any time limit


class Server:
    """One running server. With `token` its TCP address can be used as the folder's owner."""

    def __init__(self, exa, folder, *options, listen="127.0.0.1:0", descriptors=None):
        self.exa, self.folder = os.path.abspath(exa), folder
        self.environment = dict(os.environ, EXA_HOME=folder, LC_ALL="C.UTF-8")
        for name in ("EXA_SERVER", "EXA_TOKEN_FILE", "EXA_CA_FILE"):
            self.environment.pop(name, None)
        self.log = os.path.join(folder, "access.log")
        limited = [] if descriptors is None else ["prlimit", f"--nofile={descriptors}:{descriptors}"]
        self.process = subprocess.Popen(
            [*limited, self.exa, "serve", "--listen", listen, "--access-log", self.log, *options],
            env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.said, self.port, self.url = "", None, None
        while not self.url:
            line = self.process.stderr.readline().decode()
            if not line:
                raise RuntimeError(f"exa serve ended with {self.process.wait()}: {self.said}")
            self.said += line
            found = re.search(r"answers at (\S+)", line)
            self.url = found and found[1]
        if self.url.startswith("http"):
            self.port = int(self.url.rsplit(":", 1)[1])
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        for line in self.process.stderr:
            self.said += line.decode()

    @property
    def pid(self):
        return self.process.pid

    @property
    def socket_path(self):
        return os.path.join(self.folder, "exa.sock")

    def connect(self, transport="tcp", timeout=30.0, receive_buffer=None):
        if transport == "unix":
            link = socket.socket(socket.AF_UNIX)
            address = self.socket_path
        else:
            link = socket.socket(socket.AF_INET)
            address = ("127.0.0.1", self.port)
        if receive_buffer:
            link.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        link.settimeout(timeout)
        link.connect(address)
        return link

    def command(self, *words, expect=0):
        done = subprocess.run([self.exa, *words], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=120)
        if expect is not None and done.returncode != expect:
            raise AssertionError(f"exa {' '.join(words)} ended with {done.returncode}, not {expect}:\n"
                                 f"{done.stderr.decode()}{done.stdout.decode()}")
        return done

    def reply(self, *words):
        return json.loads(self.command(*words, "--json").stdout)

    def token(self):
        return new_token(self.exa, self.environment)

    def memory(self):
        """Resident bytes, without the file pages that the kernel may take back."""
        with open(f"/proc/{self.pid}/status") as file:
            return int(re.search(r"RssAnon:\s+(\d+) kB", file.read())[1]) * 1024

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def cpu_seconds(self):
        with open(f"/proc/{self.pid}/stat") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self, how=signal.SIGTERM, within=35.0):
        if self.process.poll() is None:
            self.process.send_signal(how)
        return self.process.wait(within)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def new_folder():
    return tempfile.TemporaryDirectory(prefix="exa-http-")


def new_token(exa, environment, projects="default"):
    """A token that may do everything in these projects; None where this build has no accounts."""
    def reply(*words):
        done = subprocess.run([exa, *words, "--json"], env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
        if done.returncode != 0:
            raise RuntimeError(f"exa {' '.join(words)}: {done.stderr.decode()}")
        return json.loads(done.stdout)

    commands = [command for command in reply("commands")["items"] if command["method"]]
    if "exa token create" not in [command["name"] for command in commands]:
        return None
    verbs = sorted({command["action"] for command in commands} - {None, ""})
    verbs = [verb for verb in verbs if not verb.startswith("self:")]
    name = f"tester-{time.monotonic_ns()}"
    reply("service-account", "create", name, "--verb", ",".join(verbs), "--project", projects)
    return reply("token", "create", "test", "--for", name)["token"]


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def __repr__(self):
        return f"{self.status} {self.body[:60]!r}"


def read_line(file):
    line = file.readline(1 << 16)
    if not line.endswith(b"\r\n"):
        raise EOFError("the answer ends in its head")
    return line[:-2].decode("latin-1")


def read_answer(file, head_only=False):
    """The next answer, interim ones (1xx) left out; None at the end of the stream."""
    while True:
        first = file.readline(1 << 16)
        if not first:
            return None
        found = re.fullmatch(rb"HTTP/1\.1 (\d{3}) [^\r\n]*\r\n", first)
        if not found:
            raise EOFError(f"no status line: {first[:80]!r}")
        status, headers = int(found[1]), {}
        while line := read_line(file):
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        if status >= 200:
            break
    length = 0 if head_only else int(headers["content-length"])
    body = file.read(length)
    if len(body) != length:
        raise EOFError("the answer ends in its body")
    return Answer(status, headers, body)


def exchange(link, sent):
    """Sends everything, says that there is no more, and gives (answers, whether the server closed in good order)."""
    answers = []
    try:
        link.sendall(sent)
        link.shutdown(socket.SHUT_WR)
    except (BrokenPipeError, ConnectionResetError, OSError):
        pass  # it did not want to hear the rest; what it said is still to be read
    with link, link.makefile("rb") as file:
        try:
            while (answer := read_answer(file)) is not None:
                answers.append(answer)
        except ConnectionResetError:
            return answers, False
    return answers, True


def request(line="GET /healthz HTTP/1.1", *headers, body=b"", host="x", token=None):
    """The bytes of a request; headers as text or bytes, taken as they are."""
    lines = [line] + ([f"Host: {host}"] if host is not None else [])
    if token:
        lines.append(f"Authorization: Bearer {token}")
    lines += headers
    text = b"".join((each if isinstance(each, bytes) else each.encode("latin-1")) + b"\r\n" for each in lines)
    return text + b"\r\n" + (body if isinstance(body, bytes) else body.encode())


def json_request(method, path, value=None, *headers, token=None, raw=None):
    body = raw if raw is not None else (b"" if value is None else json.dumps(value).encode())
    head = [f"Content-Length: {len(body)}", "Content-Type: application/json"] if body else []
    return request(f"{method} {path} HTTP/1.1", *head, *headers, body=body, token=token)


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
