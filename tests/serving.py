"""What the tests of a running `exa serve` share: a server of their own on a folder of their own, a token, a certificate,
and waiting that ends."""
import contextlib, json, os, pathlib, re, signal, socket, subprocess, sys, tempfile, threading, time
import urllib.error, urllib.request

PATIENCE = 60  # seconds; the machine of the tests may be busy with others
SLACK = 5.0  # seconds that a loaded machine may add to any time limit


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


def environment_without_exa(**more):
    """Nothing that is set where the tests run reaches the programs that they start."""
    return {name: value for name, value in os.environ.items() if not name.startswith("EXA_")} | more


def new_folder():
    return tempfile.TemporaryDirectory(prefix="exa-test-")


def make_certificate(folder, name):
    """A key and its self-signed certificate for 127.0.0.1, as files."""
    key, certificate = (os.path.join(folder, f"{name}.{end}") for end in ("key", "pem"))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost", "-keyout", key,
                    "-out", certificate], check=True, capture_output=True)
    os.chmod(key, 0o600)
    return key, certificate


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


class Commands:
    """`exa` on one data folder, whether a server runs there or nobody."""

    def __init__(self, exa, folder, environment=None):
        self.path, self.folder = os.path.abspath(exa), folder
        self.environment = {**(environment or environment_without_exa()), "EXA_HOME": folder, "LC_ALL": "C.UTF-8"}

    def exa(self, *words, text=None):
        """A command, whatever becomes of it."""
        given = {"input": text} if text is not None else {"stdin": subprocess.DEVNULL}
        return subprocess.run([self.path, *words], env=self.environment, capture_output=True, text=True, timeout=120, **given)

    def run(self, *words, text=None):
        """What a command prints that must succeed."""
        done = self.exa(*words, text=text)
        assert done.returncode == 0, f"exa {' '.join(words)} ended with {done.returncode}:\n{done.stderr}{done.stdout}"
        return done.stdout

    def reply(self, *words):
        return json.loads(self.run(*words, "--json"))

    def token(self, projects="default", verbs=None):
        """For a program that may do these things, or everything that there is, in these projects."""
        if verbs is None:
            actions = {command["action"] for command in self.reply("commands")["items"] if command["method"]} - {None, ""}
            verbs = ",".join(sorted(action for action in actions if not action.startswith("self:")))
        name = f"tester-{time.monotonic_ns()}"
        self.reply("service-account", "create", name, "--verb", verbs, "--project", projects)
        return self.reply("token", "create", "test", "--for", name)["token"]


class Server(Commands):
    """A running `exa serve` on the data folder `folder`, on a loopback port of its own unless `listen` says otherwise.

    It answers when the constructor returns, unless that is told not to wait. `said` is what it printed, `log` its access
    log. `under` are words before the program, for a tracer or a limit.
    """

    def __init__(self, exa, folder, *flags, listen="127.0.0.1:0", under=(), environment=None, wait=True):
        super().__init__(exa, folder, environment)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self.log = os.path.join(folder, "access.log")
        self.process = subprocess.Popen(
            [*under, self.path, "serve", "--listen", listen, "--access-log", self.log, *flags], env=self.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
        self.said, self.url = "", None
        self._heard = threading.Thread(target=self._listen, daemon=True)
        self._heard.start()
        try:
            if wait:
                wait_until("exa serve", lambda: self.url, alive=self.process)
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise

    def _listen(self):
        for line in self.process.stdout:
            self.said += line.decode(errors="replace")
            if found := re.search(rb"answers at (\S+)", line):
                self.url = found[1].decode()

    @property
    def pid(self):
        return self.process.pid

    @property
    def port(self):
        return int(self.url.rsplit(":", 1)[1])

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
        """The exit code. Under a tracer the program is its child, so the whole group is told."""
        if self.process.poll() is None:
            os.killpg(self.pid, how)
        code = self.process.wait(within)
        self._heard.join(within)
        return code

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if self.process.poll() is None:
            os.killpg(self.pid, signal.SIGKILL)
        self.process.wait()
        self._heard.join(PATIENCE)
        if kind is not None:
            sys.stderr.write(f"--- exa serve said last\n{self.said[-3000:]}\n")
