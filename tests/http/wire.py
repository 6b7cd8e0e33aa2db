"""Requests and answers byte by byte, for the tests that need more (or less) than an HTTP client would send."""
import json
import re
import socket


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
