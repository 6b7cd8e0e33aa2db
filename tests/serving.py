"""What the tests of a running `exa serve` share: a server of their own in a folder of their own, and waiting."""
import contextlib, os, pathlib, signal, socket, subprocess, sys, time, urllib.error, urllib.request

PATIENCE = 60  # seconds; the machine of the tests may be busy with others


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(what, holds, patience=PATIENCE, alive=None):
    """Asks again until `holds()` is true; ends at once when the process `alive` has ended."""
    deadline = time.monotonic() + patience
    while True:
        answer = holds()
        if answer:
            return answer
        if alive is not None and alive.poll() is not None:
            sys.exit(f"{what}: the program ended with {alive.returncode}")
        if time.monotonic() > deadline:
            sys.exit(f"{what}: not within {patience} s")
        time.sleep(0.1)


def listens(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def get(url, timeout=30, **headers):
    """(status, headers, body) of a GET; a refusal is an answer, too."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=timeout) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.headers, refusal.read().decode()
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return None, {}, ""


@contextlib.contextmanager
def program(words, log, **options):
    """Runs a program beside the test and stops it whatever happens; its output goes to the file `log`."""
    with open(log, "wb") as out:
        running = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                   start_new_session=True, **options)
        try:
            yield running
        except BaseException:
            sys.stderr.write(f"--- {pathlib.Path(log).name} ends with\n{pathlib.Path(log).read_text(errors='replace')[-3000:]}\n")
            raise
        finally:
            if running.poll() is None:
                os.killpg(running.pid, signal.SIGTERM)  # under a tracer the program is its child
                try:
                    running.wait(PATIENCE)
                except subprocess.TimeoutExpired:
                    os.killpg(running.pid, signal.SIGKILL)
                    running.wait()


class Server:
    """A real `exa serve` on a loopback port; `exa(...)` runs a command on the same data folder."""

    def __init__(self, exa, folder, process, port):
        self.path, self.folder, self.process, self.port = exa, folder, process, port
        self.url = f"http://127.0.0.1:{port}"

    def exa(self, *words):
        return subprocess.run([self.path, "--data", self.folder, *words], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True)


@contextlib.contextmanager
def server(exa, scratch, *flags, under=()):
    """`under`: words before the program, for a tracer. The access log is access.jsonl in `scratch`."""
    folder, port = os.path.join(scratch, "data"), free_port()
    words = [*under, exa, "serve", "--data", folder, "--listen", f"127.0.0.1:{port}", "--drain", "2s",
             "--access-log", os.path.join(scratch, "access.jsonl"), *flags]
    with program(words, os.path.join(scratch, "exa.log")) as process:
        wait_until("exa serve", lambda: get(f"http://127.0.0.1:{port}/healthz")[0] == 200, alive=process)
        yield Server(exa, folder, process, port)
