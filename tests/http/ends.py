"""How a server begins and ends: stopped, killed, started twice, and its certificates."""
import errno
import os
import signal
import socket
import ssl
import subprocess
import time

from serving import SLACK, Server, environment_without_exa, make_certificate, new_folder
from wire import exchange, json_request, read_answer, request


def a_request_that_had_begun_is_answered_when_it_stops(exa):
    with new_folder() as folder, Server(exa, folder) as server:
        idle = server.connect()
        idle.sendall(request())
        idle_file = idle.makefile("rb")
        assert read_answer(idle_file).status == 200
        sent = json_request("POST", "/api/v1/projects/last", raw=b"{}" + b" " * 20_000)
        begun = server.connect("unix")
        begun.sendall(sent[:-10_000])
        time.sleep(0.5)
        started = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        assert idle_file.read() == b"", "an idle connection is closed"
        for transport in ("tcp", "unix"):
            deadline = time.monotonic() + SLACK
            while True:
                try:
                    server.connect(transport, timeout=1.0).close()
                except OSError:
                    break
                assert time.monotonic() < deadline, f"{transport} still takes connections"
                time.sleep(0.02)
        assert server.process.poll() is None, "it waits for the request"
        begun.sendall(sent[-10_000:])
        with begun, begun.makefile("rb") as file:
            answer = read_answer(file)
            assert answer is not None and answer.status in (200, 201), answer
            assert answer.headers.get("connection") == "close" and file.read() == b"", answer
        code = server.process.wait(10)
        took = time.monotonic() - started
        assert code == 0, f"exit {code}"
        assert not os.path.exists(server.socket_path), "the socket is left"
        assert "last" in [item["name"] for item in server.reply("project", "list")["items"]]
        return f"ended {took:.1f} s after SIGTERM"


def a_client_that_never_ends_its_request_does_not_keep_it(exa):
    with new_folder() as folder, Server(exa, folder, "--drain", "1s") as server:
        link = server.connect("unix")
        link.sendall(json_request("POST", "/api/v1/projects/never", raw=b"{}")[:-1])
        time.sleep(0.3)
        started = time.monotonic()
        code = server.stop()
        assert code == 0 and time.monotonic() - started < 1 + SLACK, (code, time.monotonic() - started)
        link.close()
        return f"drained for 1 s and ended after {time.monotonic() - started:.1f} s"


def it_stops_while_many_are_served(exa):
    with new_folder() as folder, Server(exa, folder) as server:
        links = [server.connect("unix" if i % 2 else "tcp") for i in range(100)]
        for i, link in enumerate(links):
            link.sendall(request() * (i % 4))
        assert server.stop() == 0
        for link in links:
            link.close()


def after_kill_9_the_same_folder_serves_again(exa):
    with new_folder() as folder:
        with Server(exa, folder) as server:
            answers, _ = exchange(server.connect("unix"), json_request("POST", "/api/v1/projects/kept"))
            assert answers[0].status in (200, 201), answers
            server.stop(signal.SIGKILL)
            assert os.path.exists(server.socket_path), "nobody was there to remove it"
            # nobody listens at the socket: the command line works on the folder itself
            assert "kept" in [item["name"] for item in server.reply("project", "list")["items"]]
        with Server(exa, folder) as server:
            assert "kept" in [item["name"] for item in server.reply("project", "list")["items"]]
            assert server.reply("audit", "verify")["ok"]
            assert server.stop() == 0


def a_second_server_on_the_folder_says_why_not(exa):
    with new_folder() as folder, Server(exa, folder) as server:
        environment = dict(server.environment, EXA_LOCK_WAIT="1s")
        done = subprocess.run([server.path, "serve", "--listen", "127.0.0.1:0"], env=environment, capture_output=True, timeout=30)
        assert done.returncode == 9, (done.returncode, done.stderr)
        answers, _ = exchange(server.connect("unix"), request())
        assert answers[0].status == 200, "the first still has its socket"
        taken = subprocess.run([server.path, "serve", "--listen", f"127.0.0.1:{server.port}"],
                               env=dict(environment, EXA_HOME=folder + "-other"), capture_output=True, timeout=30)
        subprocess.run(["rm", "-rf", folder + "-other"], check=True)
        assert taken.returncode == 5 and b"cannot listen" in taken.stderr, (taken.returncode, taken.stderr)


def what_would_be_unsafe_is_not_started(exa):
    with new_folder() as folder:
        key, certificate = make_certificate(folder, "one")
        os.chmod(key, 0o640)
        other_key, _ = make_certificate(folder, "two")
        missing = os.path.join(folder, "missing.pem")
        environment = environment_without_exa(EXA_HOME=os.path.join(folder, "data"))
        for words, said in [(["--listen", "0.0.0.0:0"], b"TLS"), (["--listen", "[::]:0"], b"TLS"), (["--listen", ":0"], b"TLS"),
                            (["--listen", "127.0.0.1"], b"port"), (["--listen", "127.0.0.1:99999"], b"port"),
                            (["--tls-cert", certificate], b"together"), (["--tls-key", key], b"together"),
                            (["--tls-cert", certificate, "--tls-key", key], b"read by others"),
                            (["--tls-cert", certificate, "--tls-key", other_key], b"key"),
                            (["--tls-cert", missing, "--tls-key", other_key], b"missing.pem"),
                            (["--tls-cert", other_key, "--tls-key", other_key], b"certificate")]:
            if "--listen" not in words:
                words = [*words, "--listen", "127.0.0.1:0"]
            done = subprocess.run([os.path.abspath(exa), "serve", *words], env=environment, capture_output=True, timeout=30)
            assert done.returncode == 2 and said in done.stderr, (words, done.returncode, done.stderr.decode())


def tls_link(server, certificate, version=None):
    context = ssl.create_default_context(cafile=certificate)
    if version:
        context.minimum_version = context.maximum_version = version
        context.set_ciphers("ALL:@SECLEVEL=0")
    return context.wrap_socket(server.connect(), server_hostname="127.0.0.1")


def get_over(link):
    with link.makefile("rb") as file:
        link.sendall(request())
        return read_answer(file)


def tls_is_1_2_or_later_and_its_files_can_be_changed(exa):
    with new_folder() as folder:
        key, certificate = make_certificate(folder, "first")
        with Server(exa, folder, "--tls-cert", certificate, "--tls-key", key) as server:
            assert server.url.startswith("https://"), server.url
            for version in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
                with tls_link(server, certificate, version) as link:
                    answer = get_over(link)
                    assert answer.status == 200 and "strict-transport-security" in answer.headers, answer
            for version in (ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1):
                try:
                    tls_link(server, certificate, version).close()
                    raise AssertionError(f"{version.name} was accepted")
                except (ssl.SSLError, OSError):
                    pass
            answers = []
            try:
                answers, _ = exchange(server.connect(), request())
            except EOFError:
                pass  # a TLS alert, not an answer
            assert not answers, f"plain HTTP was answered on the TLS port: {answers}"

            kept = tls_link(server, certificate)
            assert get_over(kept).status == 200
            next_key, next_certificate = make_certificate(folder, "second")
            os.replace(next_key, key)
            os.replace(next_certificate, certificate)
            reload(server)
            with tls_link(server, certificate) as link:
                assert dict(pair[0] for pair in link.getpeercert()["subject"])["commonName"] == "second"
                assert get_over(link).status == 200
            assert get_over(kept).status == 200, "a connection keeps the certificate that it began with"
            kept.close()

            with open(certificate) as file:
                good = file.read()
            with open(certificate, "w") as file:
                file.write("nonsense")
            reload(server)
            with open(certificate, "w") as file:
                file.write(good)
            assert "Not read anew" in server.said, server.said
            with tls_link(server, certificate) as link:
                assert get_over(link).status == 200, "files that cannot be used change nothing"
            assert server.stop() == 0


def a_reader_over_tls_that_says_no_goodbye_does_not_keep_it(exa):
    """Who waits for its next request and who watches are told goodbye, and are not waited for to answer it."""
    with new_folder() as folder:
        key, certificate = make_certificate(folder, "one")
        with Server(exa, folder, "--drain", "25s", "--tls-cert", certificate, "--tls-key", key) as server:
            token = server.token()
            idle, watching = (tls_link(server, certificate) for _ in range(2))
            assert get_over(idle).status == 200
            watching.sendall(request("GET /api/v1/watch?since=0 HTTP/1.1", token=token))
            seen = b""
            while b": watching" not in seen:
                seen += watching.recv(4096)
            started = time.monotonic()
            code = server.stop()
            took = time.monotonic() - started
            assert code == 0 and took < 2 + SLACK, (code, took)
            for link in (idle, watching):
                while link.recv(4096):  # an end, not a cut, which would be an error
                    pass
            return f"ended {took:.1f} s after SIGTERM"


def the_head_of_a_stream_has_no_body_behind_it_and_no_length(exa):
    with new_folder() as folder, Server(exa, folder) as server:
        link = server.connect("unix")
        file = link.makefile("rb")
        for asked in (request("HEAD /api/v1/watch?since=0 HTTP/1.1"), request("GET /healthz HTTP/1.1")):
            link.sendall(asked)
            head = b""
            while not head.endswith(b"\r\n\r\n"):
                head += file.read(1)
            assert head.startswith(b"HTTP/1.1 200"), head
            if b"text/event-stream" in head:
                assert b"content-length" not in head, head
        link.close()


def reload(server):
    before = server.said.count("read anew")
    server.process.send_signal(signal.SIGHUP)
    deadline = time.monotonic() + 2 * SLACK
    while server.said.count("read anew") == before:
        assert time.monotonic() < deadline, f"SIGHUP was not heard: {server.said}"
        time.sleep(0.02)


def as_nobody(number):
    """What `number()` returns in a process without rights; only root can start one."""
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            os._exit(number())
        finally:
            os._exit(255)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def the_socket_is_its_owners_alone(exa):
    with new_folder() as folder, Server(exa, folder) as server:
        found = os.stat(server.socket_path)
        assert found.st_mode & 0o777 == 0o600 and found.st_uid == os.geteuid(), found
        answers, _ = exchange(server.connect("unix"), request())
        assert answers[0].status == 200, answers
        if os.geteuid() != 0:
            return "as its mode says; only root can try as somebody else"
        os.chmod(folder, 0o755)  # so that the socket itself must turn strangers away
        assert as_nobody(lambda: socket.socket(socket.AF_UNIX).connect_ex(server.socket_path)) == errno.EACCES
        return "another user is not let in"


CHECKS = [a_request_that_had_begun_is_answered_when_it_stops, a_client_that_never_ends_its_request_does_not_keep_it,
          it_stops_while_many_are_served, after_kill_9_the_same_folder_serves_again,
          a_second_server_on_the_folder_says_why_not, what_would_be_unsafe_is_not_started,
          tls_is_1_2_or_later_and_its_files_can_be_changed, a_reader_over_tls_that_says_no_goodbye_does_not_keep_it,
          the_head_of_a_stream_has_no_body_behind_it_and_no_length, the_socket_is_its_owners_alone]
