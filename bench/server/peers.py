"""The programs that the server is measured against and with: nginx, etcd, wrk, and a loop of fdatasync."""
import os
import re
import shutil
import socket
import statistics
import subprocess
import time

HERE = os.path.dirname(os.path.abspath(__file__))
UNITS = {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4}


def free_port():
    with socket.socket() as link:
        link.bind(("127.0.0.1", 0))
        return link.getsockname()[1]


def cpu_seconds(pid):
    """Of the process and its children that live."""
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        children = file.read().split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK") + sum(map(cpu_seconds, children))


def wait_for(port, seconds=20):
    deadline = time.monotonic() + seconds
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


class Nginx:
    """Serves the files of `root` as they are, set up as well as we know how."""

    def __init__(self, root, workers, folder):
        self.port = free_port()
        configuration = os.path.join(folder, f"nginx-{workers}.conf")
        with open(configuration, "w") as file:
            file.write(f"""daemon off;
worker_processes {workers};
pid {folder}/nginx-{workers}.pid;
error_log {folder}/nginx-{workers}.log;
events {{ worker_connections 2048; }}
http {{
  access_log {folder}/nginx-{workers}-access.log combined buffer=64k flush=1s;
  sendfile on; tcp_nopush on; tcp_nodelay on;
  keepalive_requests 100000000;
  open_file_cache max=100; open_file_cache_valid 1h;
  default_type application/json;
  server {{ listen 127.0.0.1:{self.port}; root {root}; }}
}}
""")
        self.process = subprocess.Popen(["nginx", "-e", f"{folder}/nginx-{workers}.log", "-c", configuration])
        wait_for(self.port)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


class Etcd:
    """One member, durable, reached through its HTTP gateway because that is what wrk speaks."""

    def __init__(self, folder):
        self.port, peer = free_port(), free_port()
        self.data = os.path.join(folder, "etcd")
        self.log = open(os.path.join(folder, "etcd.log"), "w")
        url, peer_url = f"http://127.0.0.1:{self.port}", f"http://127.0.0.1:{peer}"
        self.process = subprocess.Popen(
            ["etcd", "--data-dir", self.data, "--listen-client-urls", url, "--advertise-client-urls", url,
             "--listen-peer-urls", peer_url, "--initial-advertise-peer-urls", peer_url,
             "--initial-cluster", f"default={peer_url}"], stdout=self.log, stderr=subprocess.STDOUT)
        wait_for(self.port)
        time.sleep(2)  # until it has elected itself

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        shutil.rmtree(self.data, ignore_errors=True)


class Load:
    """What one run of wrk found."""

    def __init__(self, text):
        self.rate = float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1])
        self.count = int(re.search(r"(\d+) requests in", text)[1])
        self.p50, self.p99 = (self.latency(text, percent) for percent in ("50%", "99%"))
        self.failed = sum(map(int, re.findall(r"(?:Non-2xx or 3xx responses: |not-2xx |socket-errors )(\d+)", text)))

    @staticmethod
    def latency(text, percent):
        number, unit = re.search(rf"{re.escape(percent)}\s+([\d.]+)(us|ms|s|m)\b", text).groups()
        return float(number) * UNITS[unit]


def wrk_words(url, connections, seconds, *options, threads=1):
    return ["wrk", "-t", str(threads), "-c", str(connections), "-d", f"{seconds}s", "--latency", "--timeout", "10s", *options, url]


def wrk(url, connections, seconds, *options, pid, threads=1, environment=None):
    """A run against the server `pid`, whose CPU time is counted: unlike the rate, it hardly depends on who else is
    on the machine."""
    before = cpu_seconds(pid)
    done = subprocess.run(wrk_words(url, connections, seconds, *options, threads=threads), check=True,
                          capture_output=True, text=True, env=environment)
    load = Load(done.stdout)
    load.cpu_micros = 1e6 * (cpu_seconds(pid) - before) / max(1, load.count)
    return load


def syncs_a_second(folder, seconds, appending):
    """One writer, 4 KiB, one fdatasync, again: what the disk gives without group commit."""
    path = os.path.join(folder, "raw")
    page = os.urandom(4096)
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    try:
        if not appending:
            os.pwrite(descriptor, page * 1024, 0)
            os.fsync(descriptor)
        count, end = 0, time.monotonic() + seconds
        while time.monotonic() < end:
            os.pwrite(descriptor, page, 4096 * (count if appending else count % 1024))
            os.fdatasync(descriptor)
            count += 1
        return count / seconds
    finally:
        os.close(descriptor)
        os.unlink(path)


def median_of(loads):
    """The run of median rate, with the failures of all."""
    ordered = sorted(loads, key=lambda load: load.rate)
    chosen = ordered[len(ordered) // 2]
    chosen.failed = sum(load.failed for load in loads)
    chosen.cpu_micros = statistics.median_low(load.cpu_micros for load in loads)
    chosen.spread = (ordered[0].rate, ordered[-1].rate)
    assert statistics.median_high(load.rate for load in loads) == chosen.rate
    return chosen
