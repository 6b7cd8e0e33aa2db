#!/usr/bin/env python3
"""Every rule of history.py passes a good history and refuses those that break it. No server needed."""
import copy, base64, datetime, json, os, sys, unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import history
from history import End, Operation, Read


def rfc3339(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def leaf(index, action, name, version=None, outcome="done", code="", also=()):
    return {"action": action, "details": {"also": [{"kind": "lease", "name": lease} for lease in also]},
            "error_code": code, "index": index, "object_name": name, "object_version": version, "outcome": outcome}


def bundle(entries):
    return "".join(json.dumps(line, sort_keys=True) + "\n" for line in [{"exa_audit_bundle": 1}, *entries])


def checkpoint(entries, size):
    root = history.roots_of(history.leaves_of(bundle(entries)))[size]
    return f"exa/audit/x\n{size}\n{base64.b64encode(root).decode()}\n\n"


class World:
    """Three replicas that did everything right: versions of a and b, leases that fill 8 devices twice."""

    def __init__(self):
        self.operations, self.reads, self.entries, self.leases = [], [], [], []
        self.profiles = {name: {"items": [], "label_moves": []} for name in "ab"}
        self.now = 1_800_000_000.0
        for i in range(6):
            self.set("ab"[i % 2], f"m{i}", repeated=i == 2, answered=i != 3)
        self.refused_set("a", "bad")
        leases = [self.place(f"w{i}", 4) for i in range(2)]
        self.place("late", 4, lease=False)
        for lease in leases:
            self.release(lease)
        self.place("again", 8)

    def tick(self):
        self.now += 1
        return self.now

    def set(self, name, mark, repeated=False, answered=True):
        operation = Operation("set", mark, self.tick(), name)
        version = len(self.profiles[name]["items"]) + 1
        item = {"name": name, "version": version, "description": mark, "cpu": history.cpu_of(mark)}
        self.profiles[name]["items"].append(item)
        self.profiles[name]["label_moves"].append({"label": "active", "to_version": version})
        self.entries.append(leaf(len(self.entries), "hardware_profile.set", name, version))
        if answered:
            operation.answers = [(self.tick(), 0, 201, json.dumps(item))] * (2 if repeated else 1)
        self.operations.append(operation)
        self.reads.append(Read(name, self.tick(), self.tick(), 1, version, mark))

    def refused_set(self, name, mark):
        self.operations.append(Operation("set", mark, self.tick(), name, [(self.tick(), 2, 422, "{}")]))
        self.entries.append(leaf(len(self.entries), "hardware_profile.set", name, None, "refused", "invalid_input"))

    def place(self, workload, devices, lease=True):
        operation = Operation("place", "k-" + workload, self.tick(), workload)
        row = {"id": "l-" + workload, "workload": workload, "devices": devices, "pool": "big", "ended_at": None,
               "taken_at": rfc3339(self.tick()), "expires_at": rfc3339(self.now + 600)} if lease else None
        operation.answers = [(self.tick(), 1, 201, json.dumps({"lease": row}))]
        self.operations.append(operation)
        self.entries.append(leaf(len(self.entries), "placement.place", workload, also=[row["id"]] if row else []))
        if row:
            self.leases.append(copy.deepcopy(row))
        return row and row["id"]

    def release(self, lease):
        operation = Operation("release", "r-" + lease, self.tick(), lease)
        next(row for row in self.leases if row["id"] == lease)["ended_at"] = rfc3339(self.tick())
        operation.answers = [(self.tick(), 2, 200, "{}")]
        self.operations.append(operation)
        self.entries.append(leaf(len(self.entries), "lease.release", lease))

    def operation(self, key):
        return next(operation for operation in self.operations if operation.key == key)

    def verdict(self, size=None, **changes):
        roots = history.roots_of(history.leaves_of(bundle(self.entries)))
        size = len(self.entries) if size is None else size
        return {"ok": True, "size": size, "root": roots[size].hex(), "finding": "", "sentence": "", **changes}

    def check(self, **changes):
        # the third replica wrote nothing lately: its export ends earlier
        bundles = {0: bundle(self.entries), 1: bundle(self.entries), 2: bundle(self.entries[:-2])}
        end = End(self.profiles, self.leases, bundles, {replica: self.verdict() for replica in range(3)},
                  [(replica, checkpoint(self.entries, size)) for replica, size in enumerate((3, 5, len(self.entries)))], 8)
        for name, value in changes.items():
            setattr(end, name, value)
        return history.check(self.operations, self.reads, end)


def drop_version(world, name, index):
    """Gone without a trace: not in the tables, not in the log."""
    for rows in world.profiles[name].values():
        del rows[index]


def answer(world, key, **changes):
    when, replica, status, body = world.operation(key).answers[0]
    body = json.dumps({**json.loads(body), **changes})
    world.operation(key).answers = [(when, replica, status, body)]


def item(world, name, index, **changes):
    world.profiles[name]["items"][index].update(changes)


def lease_row(world, lease, **changes):
    next(row for row in world.leases if row["id"] == lease).update(changes)


def second_answer(world, status, body):
    world.operation("m0").answers.append((world.tick(), 2, status, body))


def lost_last_write(world):
    drop_version(world, "a", -1)


def lost_write_renumbered(world):
    drop_version(world, "a", 0)
    for rows in world.profiles["a"].values():
        for row in rows:
            row["version" if "version" in row else "to_version"] -= 1


def stored_twice(world):
    world.set("a", "m0", answered=False)


def refused_but_stored(world):
    world.set("a", "bad", answered=False)
    world.operations.pop()      # the one that was refused asked for it


def held_twice(world):
    # released later than the next one was given
    release = world.operation("r-l-w1")
    release.sent = world.now + 1


def held_twice_in_the_store(world):
    lease_row(world, "l-w1", ended_at=rfc3339(world.now + 50))


def given_back_but_held(world):
    lease_row(world, "l-w1", ended_at=None)


def unseen_lease(world, workload):
    world.leases.append({"id": "l-" + workload + "-2", "workload": workload, "devices": 1, "pool": "big",
                         "ended_at": rfc3339(1), "taken_at": rfc3339(0), "expires_at": rfc3339(1)})


def refused_entry(code):
    return lambda world: world.entries.append(leaf(len(world.entries), "hardware_profile.set", "a", None, "refused", code))


# what is done to a good world, and a word of the finding that must come of it
BROKEN = [
    ("an acknowledged write is gone", lost_last_write, "acknowledged as"),
    ("one is gone and the others closed the gap", lost_write_renumbered, "acknowledged as"),
    ("a number is missing", lambda w: item(w, "a", 1, version=9), "not dense"),
    ("a number stands twice", lambda w: item(w, "a", 1, version=1), "not dense"),
    ("one request made two versions", stored_twice, "stored twice"),
    ("one version was given to two", lambda w: answer(w, "m2", version=1), "was given to"),
    ("other content than was sent", lambda w: item(w, "b", 0, cpu=0), "cores, sent were"),
    ("a version from nobody", lambda w: item(w, "a", 0, description="eve"), "nobody sent"),
    ("a version under another name", lambda w: setattr(w.operation("m0"), "subject", "b"), "nobody sent"),
    ("the answer is another's", lambda w: answer(w, "m0", description="m2"), "the answer is about"),
    ("refused but stored", refused_but_stored, "refused, but stored"),
    ("a version without its label", lambda w: w.profiles["b"]["label_moves"].pop(), "the label moved"),
    ("a repeat got another answer", lambda w: second_answer(w, 201, "{}"), "before it was"),
    ("a repeat was refused", lambda w: second_answer(w, 409, "conflict"), "before it was"),
    ("older than what was known", lambda w: setattr(w.operation("m0"), "sent", w.now), "was known before it was sent"),
    ("a stale read", lambda w: setattr(w.reads[0], "sent", w.now), "was known before"),
    ("a read of what never was", lambda w: setattr(w.reads[0], "version", 99), "not what is stored"),
    ("a read of other content", lambda w: setattr(w.reads[0], "mark", "m9"), "not what is stored"),
    ("devices given twice, by the answers", held_twice, "by the answers"),
    ("devices given twice, by the store", held_twice_in_the_store, "by the store"),
    ("a lease that is not stored", lambda w: w.leases.pop(), "is not stored"),
    ("a lease stored as another", lambda w: lease_row(w, "l-again", devices=1), "is stored as"),
    ("one lease for two requests", lambda w: answer(w, "k-again", lease=json.loads(w.operation("k-w0").answers[0][3])["lease"]),
     "was given to"),
    ("two leases for one request", lambda w: unseen_lease(w, "w0"), "holds 2 leases"),
    ("a lease for nobody", lambda w: unseen_lease(w, "eve"), "nobody asked"),
    ("a lease for one who was refused", lambda w: setattr(w.operation("k-w0"), "answers", [(w.now, 0, 422, "{}")]),
     "refused, but"),
    ("given back, but held", given_back_but_held, "was given back"),
    ("a row twice in the list", lambda w: w.leases.append(w.leases[0]), "stands twice"),
    ("a change without an entry", lambda w: w.entries.pop(0), "versions and their entries differ"),
    ("a lease without an entry", lambda w: w.entries.pop(), "leases and their entries differ"),
    ("two entries for one change", lambda w: w.entries.append(leaf(len(w.entries), "hardware_profile.set", "a", 1)),
     "versions and their entries differ"),
    ("entries in another order", lambda w: w.entries.reverse(), "says that it is"),
    ("an unknown outcome called refused", refused_entry("outcome_unknown"), "calls outcome_unknown a refusal"),
    ("a lost database called refused", refused_entry("store_unreachable"), "calls store_unreachable a refusal"),
]


class Rules(unittest.TestCase):
    def test_a_good_history_passes(self):
        self.assertEqual(World().check(), [])

    def test_every_bad_history_is_refused(self):
        for what, damage, word in BROKEN:
            with self.subTest(what):
                world = World()
                damage(world)
                findings = world.check()
                self.assertTrue(any(word in finding for finding in findings), findings)

    def test_a_forked_log_is_refused(self):
        world = World()
        other = copy.deepcopy(world.entries)
        other[4]["object_name"] = "z"
        whole, forked = bundle(world.entries), bundle(other)
        for what, changes, word in [
                ("two replicas, two histories", {"bundles": {0: whole, 1: forked}}, "another history from entry 4"),
                ("a replica that is behind", {"verdicts": {1: world.verdict(size=12)}}, "verified 12 entries"),
                ("another root", {"verdicts": {1: world.verdict(root="00")}}, "with root 00"),
                ("a log that does not verify", {"verdicts": {1: world.verdict(ok=False, finding="root_differs")}}, "root_differs"),
                ("an export that was cut everywhere", {"bundles": {0: bundle(world.entries[:-1])}}, "not 12 with"),
                ("a checkpoint of a history that was given up", {"checkpoints": [(2, checkpoint(other, 5))]}, "the log forked"),
                ("a checkpoint beyond the end", {"bundles": {0: bundle(world.entries[:9])},
                                                 "checkpoints": [(0, checkpoint(world.entries, 12))]}, "but there are 9")]:
            with self.subTest(what):
                findings = world.check(**changes)
                self.assertTrue(any(word in finding for finding in findings), findings)

    def test_what_ends_at_a_moment_makes_room_for_what_begins_there(self):
        self.assertEqual(history.most_at_once([(0, 5, 8), (5, 9, 8)])[0], 8)
        self.assertEqual(history.most_at_once([(0, 5.001, 8), (5, 9, 8)])[0], 16)

    def test_an_unknown_outcome_may_go_either_way(self):
        stored, absent = World(), World()
        stored.set("a", "unknown", answered=False)
        absent.operations.append(Operation("set", "unknown", absent.tick(), "a"))
        self.assertEqual(stored.check() + absent.check(), [])

    def test_roots_are_those_of_the_standard(self):
        # RFC 6962's own tree of 8 (certificate-transparency's test vectors)
        leaves = [bytes.fromhex(text) for text in ("", "00", "10", "2021", "3031", "40414243", "5051525354555657",
                                                   "606162636465666768696a6b6c6d6e6f")]
        roots = [root.hex() for root in history.roots_of(leaves)]
        self.assertEqual(roots[0], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        self.assertEqual(roots[3], "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77")
        self.assertEqual(roots[8], "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328")


if __name__ == "__main__":
    unittest.main()
