"""What a client may send as a body and how connections are kept; over the socket in the data folder, whose owner
needs no token."""
import json
import threading

from wire import exchange, json_request, read_answer, request

PROJECT = "/api/v1/projects/body"
MIB = 1 << 20


def one(server, sent, head_only=False):
    """The answer to one request on a connection of its own."""
    with server.connect("unix") as link, link.makefile("rb") as file:
        link.sendall(sent)
        return read_answer(file, head_only)


def status_of(server, sent, *wanted):
    answer = one(server, sent)
    assert answer is not None and answer.status in wanted, f"{answer}, not {wanted}"
    assert answer.status < 400 or "problem+json" in answer.headers["content-type"], answer.headers
    return answer


def a_body_that_is_no_json_is_refused(server):
    for raw in (b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 100_000, b'{"residency":"open","residency":"eu-only"}',
                b'{"residency":NaN}', b'{"residency":Infinity}', b"{'residency':'open'}", b'{"residency":"open"} x',
                b'{"residency":"\xff"}', b'{"residency":"\\ud800"}', b'{"a":1,}', b"\xef\xbb\xbf{}", b"\x00", b"[]", b"1"):
        status_of(server, json_request("POST", PROJECT, raw=raw), 400, 422)


def a_body_above_the_limit_is_refused_while_the_client_still_sends(server):
    for size in (MIB + 1, 10 * MIB, 64 * MIB + 1, 1 << 62):
        with server.connect("unix") as link, link.makefile("rb") as file:
            link.sendall(request(f"POST {PROJECT} HTTP/1.1", f"Content-Length: {size}", "Content-Type: application/json"))

            def pour():
                try:
                    for _ in range(min(size, 16 * MIB) >> 16):
                        link.sendall(b"x" * (1 << 16))
                except OSError:
                    pass  # it has hung up, as it may

            sender = threading.Thread(target=pour)
            sender.start()
            answer = read_answer(file)
            sender.join()
            assert answer.status == 413 and answer.headers["connection"] == "close", answer


def a_string_of_10_mb_is_refused_by_its_chunks_too(server):
    body = b'"' + b"a" * (10 * MIB) + b'"'
    chunked = b"".join(b"%x\r\n%s\r\n" % (len(body[i:i + 65536]), body[i:i + 65536]) for i in range(0, len(body), 65536))
    answers, _ = exchange(server.connect("unix"),
                          request(f"POST {PROJECT} HTTP/1.1", "Transfer-Encoding: chunked", "Content-Type: application/json",
                                  body=chunked + b"0\r\n\r\n"))
    assert [answer.status for answer in answers] == [413], answers


def a_body_just_within_the_limit_is_read(server):
    raw = json.dumps({"x": ""}).encode()
    raw = raw[:-2] + b"a" * (MIB - len(raw)) + raw[-2:]
    assert len(raw) == MIB
    status_of(server, json_request("POST", PROJECT, raw=raw), 400, 422)  # an unknown key, not a size


def another_content_type_is_refused(server):
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx", ""):
        answer = one(server, request(f"POST {PROJECT} HTTP/1.1", "Content-Length: 2", f"Content-Type: {kind}", body="{}"))
        assert answer.status == 415, f"{kind!r}: {answer}"
    answer = one(server, request(f"POST {PROJECT} HTTP/1.1", "Content-Length: 2", body="{}"))
    assert answer.status == 415, f"none: {answer}"


def head_is_get_without_a_body(server):
    for path in ("/healthz", "/readyz", "/api/v1/projects", "/api/v1/nothing"):
        whole = one(server, request(f"GET {path} HTTP/1.1"))
        bare = one(server, request(f"HEAD {path} HTTP/1.1"), head_only=True)
        assert bare.status == whole.status, (path, bare, whole)
        assert bare.headers["content-length"] == whole.headers["content-length"], path
        # nothing of a body is left in the way of the next answer
        with server.connect("unix") as link, link.makefile("rb") as file:
            link.sendall(request(f"HEAD {path} HTTP/1.1") + request())
            read_answer(file, head_only=True)
            assert read_answer(file).body == b"ok\n", path


def a_client_that_asks_before_it_sends_is_told_to_go_on(server):
    with server.connect("unix") as link, link.makefile("rb") as file:
        link.sendall(request(f"POST {PROJECT} HTTP/1.1", "Content-Length: 5", "Content-Type: application/json",
                             "Expect: 100-continue"))
        assert file.readline() == b"HTTP/1.1 100 Continue\r\n" and file.readline() == b"\r\n"
        link.sendall(b"[1,2]")
        assert read_answer(file).status in (400, 422)
    refused = one(server, request(f"POST {PROJECT} HTTP/1.1", f"Content-Length: {2 * MIB}", "Expect: 100-continue"))
    assert refused.status == 413, refused  # instead of being told to go on


def a_connection_is_used_again_and_answers_come_in_order(server):
    paths = ["/healthz", "/api/v1/nothing", "/readyz", "/api/v1/projects"]
    with server.connect("unix") as link, link.makefile("rb") as file:
        for turn in range(50):
            link.sendall(request(f"GET {paths[turn % 4]} HTTP/1.1"))
            answer = read_answer(file)
            assert answer.status == (404 if turn % 4 == 1 else 200), (paths[turn % 4], answer)
    with server.connect("unix") as link, link.makefile("rb") as file:
        for turn in range(100):
            link.sendall(b"".join(request(f"GET {path} HTTP/1.1") for path in paths))
        for turn in range(400):
            answer = read_answer(file)
            assert answer.status == (404 if turn % 4 == 1 else 200), (paths[turn % 4], answer)
            assert (answer.body == b"ok\n") == (turn % 4 == 0), turn


def close_is_heard(server):
    for line, *headers in (["GET /healthz HTTP/1.1", "Connection: close"], ["GET /healthz HTTP/1.1", "connection: Close, te"],
                           ["GET /healthz HTTP/1.0"], ["POST /api/v1/nothing HTTP/1.1", "Connection: close"]):
        with server.connect("unix") as link, link.makefile("rb") as file:
            link.sendall(request(line, *headers))
            answer = read_answer(file)
            assert answer.headers.get("connection") == "close", (line, answer.headers)
            assert file.read() == b"", line
    with server.connect("unix") as link, link.makefile("rb") as file:  # HTTP/1.0 that asks for more
        link.sendall(request("GET /healthz HTTP/1.0", "Connection: keep-alive"))
        answer = read_answer(file)
        assert answer.headers.get("connection") == "keep-alive", f"HTTP/1.0 that asks to be kept: {answer.headers}"
        link.sendall(request("GET /healthz HTTP/1.0"))
        assert read_answer(file).status == 200


def a_method_that_is_not_served_is_named(server):
    answer = status_of(server, request("PATCH /api/v1/projects HTTP/1.1"), 405)
    assert "GET" in answer.headers["allow"], answer.headers
    answer = status_of(server, request("DELETE /api/v1/projects HTTP/1.1"), 405)
    assert "GET" in answer.headers["allow"], answer.headers


def a_trailer_is_no_header(server):
    token = server.token()
    sent = request("GET /api/v1/projects HTTP/1.1", "Transfer-Encoding: chunked",
                   body=f"0\r\nAuthorization: Bearer {token}\r\n\r\n")
    answers, _ = exchange(server.connect("tcp"), sent)
    assert [answer.status for answer in answers] in ([401], [400]), answers


CHECKS = [a_body_that_is_no_json_is_refused, a_body_above_the_limit_is_refused_while_the_client_still_sends,
          a_string_of_10_mb_is_refused_by_its_chunks_too, a_body_just_within_the_limit_is_read,
          another_content_type_is_refused, head_is_get_without_a_body, a_client_that_asks_before_it_sends_is_told_to_go_on,
          a_connection_is_used_again_and_answers_come_in_order, close_is_heard, a_method_that_is_not_served_is_named,
          a_trailer_is_no_header]
