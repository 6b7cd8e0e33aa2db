"""Does what clients were told agree with what the replicas hold in the end? Pure: values in, findings out.

A history is what clients did and what they were answered; `End` is what was read after the last fault.
Times are seconds of one clock, that of the machine on which clients and replicas ran. Every rule here is one
that a correct installation cannot break, however slow it was; each returns sentences, none when all is well.
history_test.py holds the histories that each of them must refuse.
"""
import base64, bisect, collections, datetime, hashlib, json, os, sys
from dataclasses import dataclass, field

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "audit"))
from verify import Edge


@dataclass
class Operation:
    """One request, with all its tries under one idempotency key."""
    kind: str                     # set, place or release
    key: str
    sent: float                   # before the first try
    subject: str                  # name of the profile, of the workload, or id of the lease
    answers: list = field(default_factory=list)  # (when, replica, status, body): the answers that were definite

    def acknowledged(self):
        return next((answer for answer in self.answers if 200 <= answer[2] < 300), None)

    def refused(self):
        return next((answer for answer in self.answers if 400 <= answer[2] < 500), None)


@dataclass
class Read:
    """The active version of a profile, as one replica showed it."""
    name: str
    sent: float
    answered: float
    replica: int
    version: int
    mark: str                     # the description: the key of the request that made the version


@dataclass
class End:
    profiles: dict                # name -> the answer of `hardware profile history`
    leases: list                  # every lease there ever was
    bundles: dict                 # replica -> its audit log, as exported (up to its own last checkpoint)
    verdicts: dict                # replica -> what `audit verify` said there
    checkpoints: list             # (replica, text): every checkpoint file that was seen during the run
    capacity: int


def every_answer_is_the_first(operations):
    """A repeated request gets the first answer, byte for byte, from whichever replica."""
    for operation in operations:
        first = operation.acknowledged()
        for when, replica, status, body in operation.answers:
            if first and (status, body) != (first[2], first[3]):
                yield f"{operation.key}: replica {replica} answered {status} {body[:80]!r}, before it was {first[2]} {first[3][:80]!r}"


def versions_are_what_was_acknowledged(operations, profiles):
    """Dense, each from one request, every acknowledged one there as it was sent, no refused one."""
    marks = {operation.key: operation for operation in operations if operation.kind == "set"}
    stored = {}
    for name, history in profiles.items():
        numbers = [item["version"] for item in history["items"]]
        if numbers != list(range(1, len(numbers) + 1)):
            yield f"{name}: the versions are not dense: {gaps(numbers)}"
        moves = [move["to_version"] for move in history["label_moves"] if move["label"] == "active"]
        if moves != numbers:
            yield f"{name}: the label moved to {len(moves)} versions of {len(numbers)}, or in another order"
        for item in history["items"]:
            mark = item["description"]
            if mark in stored:
                yield f"{mark}: stored twice, as {stored[mark][0]}@{stored[mark][1]} and {name}@{item['version']}"
            stored[mark] = (name, item["version"])
            if mark not in marks or marks[mark].subject != name:
                yield f"{name}@{item['version']}: nobody sent {mark}"
            elif item["cpu"] != cpu_of(mark):
                yield f"{name}@{item['version']}: {item['cpu']} cores, sent were {cpu_of(mark)}"
    given = {}
    for mark, operation in marks.items():
        if done := operation.acknowledged():
            reply = json.loads(done[3])
            if reply["description"] != mark or reply["name"] != operation.subject:
                yield f"{mark}: the answer is about {reply['name']} {reply['description']}"
            where = (reply["name"], reply["version"])
            if where in given:
                yield f"{where[0]}@{where[1]} was given to {given[where]} and to {mark}"
            given[where] = mark
            if stored.get(mark) != where:
                yield f"{mark}: acknowledged as {where[0]}@{where[1]}, stored as {stored.get(mark)}"
        elif operation.refused() and mark in stored:
            yield f"{mark}: refused, but stored"


def order_is_that_of_time(operations, reads):
    """What was acknowledged before something began is before it, on every replica: versions and reads."""
    done = collections.defaultdict(list)          # name -> (when it was known, version)
    for operation in operations:
        answer = operation.acknowledged() if operation.kind == "set" else None
        if answer:
            done[operation.subject].append((answer[0], json.loads(answer[3])["version"]))
    for read in reads:
        done[read.name].append((read.answered, read.version))
    floors = {}
    for name, known in done.items():
        known.sort()
        highest, floor = 0, []
        for when, version in known:
            highest = max(highest, version)
            floor.append(highest)
        floors[name] = ([when for when, _ in known], floor)

    def floor_at(name, when):
        times, floor = floors[name]
        at = bisect.bisect_left(times, when)
        return floor[at - 1] if at else 0

    for operation in operations:
        answer = operation.acknowledged() if operation.kind == "set" else None
        if answer and json.loads(answer[3])["version"] <= floor_at(operation.subject, operation.sent):
            yield (f"{operation.key}: version {json.loads(answer[3])['version']} although "
                   f"{floor_at(operation.subject, operation.sent)} was known before it was sent")
    for read in reads:
        if read.version < floor_at(read.name, read.sent):
            yield (f"replica {read.replica} showed {read.name}@{read.version} although "
                   f"{floor_at(read.name, read.sent)} was known before")


def reads_show_what_is_stored(reads, profiles):
    for read in reads:
        items = profiles[read.name]["items"]
        if read.version > len(items) or items[read.version - 1]["description"] != read.mark:
            yield f"replica {read.replica} showed {read.name}@{read.version} as {read.mark}, which is not what is stored"


def most_at_once(intervals):
    """The most devices held at one moment, and that moment. Intervals are (from, until, devices), half open."""
    changes = [(start, 1, devices) for start, end, devices in intervals if end > start]
    changes += [(end, 0, -devices) for start, end, devices in intervals if end > start]
    held = most = 0
    at = None
    for when, _, devices in sorted(changes):      # what ends at a moment ends before what begins there
        held += devices
        if held > most:
            most, at = held, when
    return most, at


def no_device_is_given_twice(operations, leases, capacity):
    """By what clients knew, and by what the store says; every lease from one request."""
    releases = collections.defaultdict(list)
    for operation in operations:
        if operation.kind == "release":
            releases[operation.subject].append(operation)
    rows = {}
    for row in leases:
        if row["id"] in rows:
            yield f"lease {row['id']} stands twice in the list"
        rows[row["id"]] = row
    intervals, owners, asked = [], {}, {}
    for operation in operations:
        if operation.kind != "place":
            continue
        asked[operation.subject] = operation
        done = operation.acknowledged()
        lease = json.loads(done[3])["lease"] if done else None
        if lease is None:
            continue
        if lease["id"] in owners:
            yield f"lease {lease['id']} was given to {owners[lease['id']]} and to {operation.key}"
        owners[lease["id"]] = operation.key
        if lease["id"] not in rows:
            yield f"{operation.key}: its lease {lease['id']} is not stored"
        elif any(rows[lease["id"]][key] != lease[key] for key in ("workload", "devices", "pool", "taken_at")):
            yield f"{operation.key}: its lease {lease['id']} is stored as {rows[lease['id']]}"
        # held for certain from the answer until somebody asked to give it back, or until it expired
        until = min([release.sent for release in releases[lease["id"]]] + [seconds(lease["expires_at"])])
        intervals.append((done[0], until, lease["devices"]))
    most, at = most_at_once(intervals)
    if most > capacity:
        yield f"by the answers {most} devices of {capacity} were held at {at}"
    most, at = most_at_once([(seconds(row["taken_at"]), seconds(row["ended_at"] or row["expires_at"]), row["devices"])
                             for row in leases])
    if most > capacity:
        yield f"by the store {most} devices of {capacity} were held at {at}"
    workloads = collections.Counter(row["workload"] for row in leases)
    for workload, times in workloads.items():
        if times > 1:
            yield f"{workload} holds {times} leases for one request"
        operation = asked.get(workload)
        if operation is None:
            yield f"nobody asked for a place for {workload}"
        elif operation.refused():
            yield f"{operation.key}: refused, but {workload} holds a lease"
    for lease, tried in releases.items():
        if any(operation.acknowledged() for operation in tried) and lease in rows and rows[lease]["ended_at"] is None \
                and seconds(rows[lease]["expires_at"]) > min(o.acknowledged()[0] for o in tried if o.acknowledged()):
            yield f"lease {lease} was given back, but is held"


def roots_of(leaves):
    """Root after each leaf, from the root of none on."""
    edge = Edge()
    roots = [edge.root()]
    for leaf in leaves:
        edge.append(leaf)
        roots.append(edge.root())
    return roots


def leaves_of(bundle):
    return [line for line in bundle.encode().splitlines() if line.startswith(b"{")][1:]


def size_and_root(checkpoint):
    lines = checkpoint.split("\n")
    return int(lines[1]), base64.b64decode(lines[2])


def log_has_one_history(bundles, verdicts, checkpoints):
    """One size, one root; every checkpoint that was ever signed is of this history.

    An export ends with its replica's last checkpoint, so some are shorter; the longest is to hold everything.
    """
    logs = {replica: leaves_of(bundle) for replica, bundle in bundles.items()}
    longest = max(logs.values(), key=len)
    for replica, leaves in logs.items():
        if leaves != longest[:len(leaves)]:
            first = next(i for i, pair in enumerate(zip(leaves, longest)) if pair[0] != pair[1])
            yield f"replica {replica} has another history from entry {first} on"
    roots = roots_of(longest)
    for replica, verdict in verdicts.items():
        if not verdict["ok"]:
            yield f"replica {replica}: {verdict['finding']}: {verdict['sentence']}"
        elif (verdict["size"], verdict["root"]) != (len(longest), roots[-1].hex()):
            yield f"replica {replica} verified {verdict['size']} entries with root {verdict['root']}, not {len(longest)} with {roots[-1].hex()}"
    for replica, text in checkpoints:
        size, root = size_and_root(text)
        if size >= len(roots):
            yield f"replica {replica} signed {size} entries, but there are {len(roots) - 1}"
        elif roots[size] != root:
            yield f"replica {replica} signed another root for {size} entries: the log forked"
    for index, leaf in enumerate(longest):
        if json.loads(leaf)["index"] != index:
            yield f"entry {index} says that it is {json.loads(leaf)['index']}"


# Codes that say nothing about the change: whoever sees one does not know whether it was stored, or could not even ask.
NOT_A_REFUSAL = ("outcome_unknown", "store_unreachable", "store_locked", "store_full", "store_unwritable")


def log_says_what_is_stored(bundle, profiles, leases):
    """One entry for each version and each lease, and no version or lease without one."""
    sets, placed = collections.Counter(), collections.Counter()
    for leaf in leaves_of(bundle):
        entry = json.loads(leaf)
        if entry["outcome"] != "done":
            if entry["error_code"] in NOT_A_REFUSAL:
                yield f"entry {entry['index']} calls {entry['error_code']} a refusal of {entry['action']}"
            continue
        if entry["action"] == "hardware_profile.set":
            sets[entry["object_name"], entry["object_version"]] += 1
        elif entry["action"] == "placement.place":
            placed.update(also["name"] for also in entry["details"].get("also", []) if also["kind"] == "lease")
    stored = collections.Counter((name, item["version"]) for name, history in profiles.items() for item in history["items"])
    if sets != stored:
        yield f"versions and their entries differ: {dict((sets - stored) + (stored - sets))}"
    held = collections.Counter(row["id"] for row in leases)
    if placed != held:
        yield f"leases and their entries differ: {dict((placed - held) + (held - placed))}"


def check(operations, reads, end):
    """Everything, as a list of findings."""
    return [*every_answer_is_the_first(operations),
            *versions_are_what_was_acknowledged(operations, end.profiles),
            *order_is_that_of_time(operations, reads),
            *reads_show_what_is_stored(reads, end.profiles),
            *no_device_is_given_twice(operations, end.leases, end.capacity),
            *log_has_one_history(end.bundles, end.verdicts, end.checkpoints),
            *log_says_what_is_stored(max(end.bundles.values(), key=len), end.profiles, end.leases)]


def cpu_of(mark):
    """A request's content follows from its key, so what is stored can be compared with what was sent."""
    return 1 + int.from_bytes(hashlib.sha256(mark.encode()).digest()[:2], "big") % 512


def gaps(numbers):
    odd = [(a, b) for a, b in zip([0, *numbers], numbers) if b != a + 1]
    return ", ".join(f"{b} follows {a}" for a, b in odd[:3])


def seconds(rfc3339):
    return datetime.datetime.fromisoformat(rfc3339.replace("Z", "+00:00")).timestamp()
