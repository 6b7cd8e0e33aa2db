"""Requests that two readers could read in two ways, and what the server may make of each.

What follows the bytes of every case is a second request that changes something. A case that is REFUSED, and one
that is answered ONCE because those bytes are its body, must never run it. Sources: RFC 9112 (framing), RFC 9110
(fields), and the tricks that desynchronised proxies and servers in the past.
"""
from wire import request

REFUSED = "refused"  # one answer 4xx or 5xx, then the end
ONCE = "once"        # one answer, whatever follows was its body
CLOSED = "closed"    # the end, without an answer: a request that never became whole
BOTH = "both"        # two requests in good order, both answered

LINE = "GET /healthz HTTP/1.1"


def table(canary):
    """(name, bytes, acceptable outcomes); `canary` is the second request."""
    size = len(canary)
    cases = []

    def case(name, sent, *outcomes):
        cases.append((name, sent, outcomes))

    def headers(name, lines, body, *outcomes, line=LINE, host="x"):
        case(name, request(line, *lines, host=host, body=body), *outcomes)

    # --- lengths
    last = b"0\r\n\r\n"
    headers("length and chunked", [f"Content-Length: {len(last) + size}", "Transfer-Encoding: chunked"],
            last + canary, REFUSED)
    headers("chunked and length", ["Transfer-Encoding: chunked", f"Content-Length: {len(last)}"],
            last + canary, REFUSED)
    headers("length 0 and chunked", ["Content-Length: 0", "Transfer-Encoding: chunked"], last + canary, REFUSED)
    headers("two lengths", ["Content-Length: 0", f"Content-Length: {size}"], canary, REFUSED)
    headers("two lengths, the larger first", [f"Content-Length: {size}", "Content-Length: 0"], canary, REFUSED)
    headers("two equal lengths", [f"Content-Length: {size}"] * 2, canary, REFUSED, ONCE)
    headers("a list of equal lengths", [f"Content-Length: {size}, {size}"], canary, REFUSED, ONCE)
    headers("a list of lengths", [f"Content-Length: 0, {size}"], canary, REFUSED)
    for title, value in [("with a plus", "+{}"), ("negative", "-{}"), ("with a blank inside", "0 {}"), ("in hex", "0x{}"),
                         ("with a semicolon", "0;{}"), ("with a point", "{}.0"), ("with an exponent", "{}e0"),
                         ("in quotes", '"{}"'), ("with a form feed", "{}\x0c"), ("with a vertical tab", "\x0b{}"),
                         ("with a NUL", "{}\x00"), ("with a no-break space", "\xa0{}"), ("in Arabic digits", "\xd9\xa5"),
                         ("of nothing", ""), ("of 2^64", "18446744073709551616"), ("of 2^64 and some", "18446744073709551620"),
                         ("of thirty digits", "9" * 30), ("of 2^63", "9223372036854775808"), ("of 2^64-1", "18446744073709551615")]:
        headers(f"length {title}", ["Content-Length: " + value.format(size)], canary, REFUSED)
    headers("length between blanks", [f"Content-Length:  {size} \t"], canary, ONCE, REFUSED)
    headers("length behind a tab", [f"Content-Length:\t{size}"], canary, ONCE, REFUSED)
    headers("length with zeros before", [f"Content-Length: 000{size}"], canary, ONCE, REFUSED)
    headers("length, blank before the colon", [f"Content-Length : {size}"], canary, REFUSED)
    headers("length, tab before the colon", [f"Content-Length\t: {size}"], canary, REFUSED)
    headers("length longer than what comes", [f"Content-Length: {size + 1}"], canary, CLOSED, REFUSED)

    # --- transfer encodings
    for title, value in [("twice in one", "chunked, chunked"), ("with a letter before", "xchunked"), ("identity", "identity"),
                         ("behind gzip", "gzip, chunked"), ("before identity", "chunked, identity"),
                         ("with a parameter", "chunked;q=1"), ("in quotes", '"chunked"'), ("split", "chunk\x0bed"),
                         ("behind a vertical tab", "\x0bchunked"), ("with a NUL", "chunked\x00"), ("with a comma before", ",chunked"),
                         ("empty", ""), ("gzip alone", "gzip"), ("in brackets", "[chunked]"), ("plural", "chunkeds")]:
        headers(f"encoding: {title}", [f"Transfer-Encoding: {value}"], last + canary, REFUSED)
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (size, canary)
    for title, line in [("usual", "Transfer-Encoding: chunked"), ("in capitals", "TRANSFER-ENCODING: CHUNKED"),
                        ("behind blanks", "Transfer-Encoding:   chunked"), ("behind a tab", "Transfer-Encoding:\tchunked"),
                        ("before a blank", "Transfer-Encoding: chunked "), ("without a blank", "Transfer-Encoding:chunked")]:
        headers(f"encoding: {title}", [line], chunked, ONCE, REFUSED)
    headers("encoding: blank before the colon", ["Transfer-Encoding : chunked"], last + canary, REFUSED)
    headers("encoding: two lines", ["Transfer-Encoding: chunked"] * 2, last + canary, REFUSED)
    headers("encoding: two lines, one identity", ["Transfer-Encoding: identity", "Transfer-Encoding: chunked"],
            last + canary, REFUSED)
    headers("encoding: folded", ["Transfer-Encoding:", " chunked"], last + canary, REFUSED)
    headers("encoding: behind a bare LF", ["X: y\nTransfer-Encoding: chunked"], last + canary, REFUSED)
    headers("encoding: behind a bare CR", ["X: y\rTransfer-Encoding: chunked"], last + canary, REFUSED)
    headers("encoding: in HTTP/1.0", ["Transfer-Encoding: chunked"], last + canary, REFUSED, CLOSED, ONCE,
            line="GET /healthz HTTP/1.0")

    # --- chunks
    def chunks(name, body, *outcomes):
        headers(f"chunk: {name}", ["Transfer-Encoding: chunked"], body, *outcomes)

    chunks("capitals", b"A\r\n0123456789\r\n0\r\n\r\n", ONCE)
    chunks("zeros before the size", b"0000005\r\nhello\r\n0\r\n\r\n", ONCE, REFUSED)
    chunks("extension", b"5;a=b\r\nhello\r\n0\r\n\r\n", ONCE, REFUSED)
    chunks("extension in quotes", b'5;a="\\"b"\r\nhello\r\n0;c\r\n\r\n', ONCE, REFUSED)
    chunks("extension with a line break", b"5;a\nb\r\nhello\r\n0\r\n\r\n" + canary, REFUSED)
    chunks("extension of 200,000 bytes", b"5;" + b"a" * 200_000 + b"\r\nhello\r\n0\r\n\r\n", REFUSED)
    for title, size_line in [("0x", b"0x5"), ("a plus", b"+5"), ("a minus", b"-5"), ("a blank before", b" 5"), ("a comma", b"5,"),
                             ("no digit", b""), ("a letter too far", b"g"), ("2^64 and more", b"10000000000000005"),
                             ("seventeen F", b"F" * 17), ("a NUL", b"5\x00"), ("a quote", b'"5"')]:
        chunks(f"size with {title}", size_line + b"\r\nhello\r\n0\r\n\r\n" + canary, REFUSED)
    chunks("size with a blank behind", b"5 \r\nhello\r\n0\r\n\r\n", ONCE, REFUSED)
    chunks("size of 2^64-1", b"FFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n" + canary, REFUSED)
    chunks("no line end behind the data", b"5\r\nhello0\r\n\r\n" + canary, REFUSED)
    chunks("more data than the size", b"3\r\nhello\r\n0\r\n\r\n" + canary, REFUSED)
    chunks("bare LF behind the size", b"5\nhello\r\n0\r\n\r\n" + canary, REFUSED)
    chunks("bare LF behind the data", b"5\r\nhello\n0\r\n\r\n" + canary, REFUSED)
    chunks("bare CR behind the size", b"5\rhello\r\n0\r\n\r\n" + canary, REFUSED)
    chunks("bare LF at the end", b"0\r\n\n" + canary, REFUSED)
    chunks("never the last", b"5\r\nhello\r\n", CLOSED, REFUSED)
    chunks("a trailer", b"0\r\nX: y\r\n\r\n", ONCE, REFUSED)
    chunks("a length in the trailer", b"0\r\nContent-Length: 50\r\n\r\n" + request(), REFUSED, BOTH)
    chunks("a trailer without a colon", b"0\r\nbroken\r\n\r\n" + canary, REFUSED)
    chunks("more than the limit in one", b"%x\r\n" % ((1 << 20) + 1) + b"a" * ((1 << 20) + 1) + b"\r\n0\r\n\r\n",
           REFUSED)

    # --- lines and headers
    case("bare LF ends every line", request(host="x").replace(b"\r\n", b"\n") + canary, REFUSED)
    case("bare LF ends the request line", b"GET /healthz HTTP/1.1\nHost: x\r\n\r\n" + canary, REFUSED)
    case("bare LF ends the head", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\n" + canary, REFUSED)
    case("bare CR ends every line", b"GET /healthz HTTP/1.1\rHost: x\r\r" + canary, REFUSED)
    for title, line in [("with a CR in its value", "X: a\rb"), ("without a colon", "broken"), ("without a name", ": x"),
                        ("with a blank before the colon", "X : y"), ("with a blank in its name", "X Y: z"),
                        ("with a NUL in its name", "X\x00: y"), ("with a NUL in its value", "X: a\x00b"),
                        ("with a bell in its value", "X: a\x07b"), ("with DEL in its value", "X: a\x7fb"),
                        ("with DEL in its name", "X\x7f: y"), ("with Latin letters in its name", "\xc4: y"),
                        ("with a bracket in its name", "X(: y")]:
        headers(f"header {title}", [line], canary, REFUSED)
    headers("header with Latin letters in its value", ["X: caf\xe9"], b"", ONCE, REFUSED)
    headers("header folded by a blank", ["X: a", " b"], canary, REFUSED)
    headers("header folded by a tab", ["X: a", "\tb"], canary, REFUSED)
    headers("header folded with nothing in it", ["X: a", " "], canary, REFUSED)
    case("first header folded", b"GET /healthz HTTP/1.1\r\n Host: x\r\n\r\n" + canary, REFUSED)
    headers("host twice", ["Host: y"], canary, REFUSED)
    headers("no host", [], canary, REFUSED, host=None)
    headers("empty host", [], b"", REFUSED, ONCE, host="")
    headers("host with a blank in it", [], canary, REFUSED, host="a b")
    headers("host with a slash in it", [], canary, REFUSED, host="a/b")
    headers("host with a user in it", [], canary, REFUSED, host="a@b")
    headers("two credentials", ["Authorization: Bearer a", "Authorization: Bearer b"], canary, REFUSED)
    headers("2,000 headers", [f"X-{i}: y" for i in range(2000)], canary, REFUSED)
    headers("one header of 100,000 bytes", ["X: " + "y" * 100_000], canary, REFUSED)
    headers("a name of 20,000 bytes", ["X" * 20_000 + ": y"], canary, REFUSED)
    headers("200 small headers", [f"X-{i}: y" for i in range(200)], b"", ONCE, REFUSED)

    # --- request lines
    def first(name, line, *outcomes, follow=canary):
        case(f"line: {name}", line + b"\r\nHost: x\r\n\r\n" + follow, *outcomes)

    first("absolute form", b"GET http://x/healthz HTTP/1.1", ONCE, follow=b"")
    first("asterisk", b"OPTIONS * HTTP/1.1", ONCE, REFUSED, follow=b"")
    first("asterisk with GET", b"GET * HTTP/1.1", ONCE, REFUSED, follow=b"")
    first("authority form", b"CONNECT x:443 HTTP/1.1", ONCE, REFUSED, follow=b"")
    first("HTTP/0.9", b"GET /healthz", REFUSED, CLOSED)
    first("HTTP/1.0", b"GET /healthz HTTP/1.0", ONCE)
    first("HTTP/1.2", b"GET /healthz HTTP/1.2", REFUSED)
    first("HTTP/2.0", b"GET /healthz HTTP/2.0", REFUSED)
    first("HTTP/11.1", b"GET /healthz HTTP/11.1", REFUSED)
    first("HTTP/1.10", b"GET /healthz HTTP/1.10", REFUSED)
    first("http/1.1", b"GET /healthz http/1.1", REFUSED)
    first("a blank behind the version", b"GET /healthz HTTP/1.1 ", REFUSED)
    first("two blanks", b"GET  /healthz HTTP/1.1", REFUSED)
    first("tabs", b"GET\t/healthz\tHTTP/1.1", REFUSED)
    first("a blank before the method", b" GET /healthz HTTP/1.1", REFUSED)
    first("a blank in the path", b"GET /health z HTTP/1.1", REFUSED)
    first("a NUL in the path", b"GET /health\x00z HTTP/1.1", REFUSED)
    first("a bare CR in the path", b"GET /healthz\rHTTP/1.1", REFUSED)
    first("a byte above ASCII in the path", b"GET /h\xffz HTTP/1.1", ONCE, REFUSED, follow=b"")
    first("a fragment", b"GET /healthz#x HTTP/1.1", ONCE, REFUSED, follow=b"")
    first("no path", b"GET  HTTP/1.1", REFUSED)
    first("a method with a colon", b"GE:T /healthz HTTP/1.1", REFUSED)
    first("a small method", b"get /healthz HTTP/1.1", ONCE, REFUSED, follow=b"")
    first("a method nobody knows", b"BREW /healthz HTTP/1.1", ONCE, REFUSED, follow=b"")
    first("of 100,000 bytes", b"GET /" + b"a" * 100_000 + b" HTTP/1.1", REFUSED)
    first("a method of 20,000 bytes", b"G" * 20_000 + b" /healthz HTTP/1.1", REFUSED)
    first("empty lines before", b"\r\n\r\nGET /healthz HTTP/1.1", ONCE, REFUSED, follow=b"")
    case("the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00" + canary, REFUSED)
    case("a TLS handshake", b"\x16\x03\x01\x00\xc8\x01\x00\x00\xc4\x03\x03" + b"\x00" * 190 + canary, REFUSED, CLOSED)
    case("bytes at random", bytes(range(256)) * 4 + b"\r\n\r\n" + canary, REFUSED)
    case("nothing", b"", CLOSED)
    case("half a head", b"GET /healthz HTTP/1.1\r\nHost:", CLOSED, REFUSED)

    # --- one behind the other
    headers("an upgrade to HTTP/2", ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"],
            b"", ONCE)
    headers("close, then more", ["Connection: close"], canary, ONCE)
    headers("two in good order", [], request(), BOTH)
    headers("a body, then another", ["Content-Length: 5"], b"hello" + request(), BOTH)
    headers("chunks, then another", ["Transfer-Encoding: chunked"], b"5\r\nhello\r\n0\r\n\r\n" + request(), BOTH)
    return cases


def outcome(answers):
    """What the server made of a case, in the words above; None for what it may never do."""
    statuses = [answer.status for answer in answers]
    if not statuses:
        return CLOSED
    if len(statuses) == 2:
        return BOTH
    return (REFUSED if answers[0].headers.get("connection") == "close" and statuses[0] >= 400 else ONCE) \
        if len(statuses) == 1 else None
