#!/usr/bin/env python3
"""Verifies exa audit bundles, written from docs/audit-format.md alone.

usage: verify.py [--key TEXT] [--checkpoint FILE]... BUNDLE...

Prints one JSON object for each bundle; exit 0 when all are consistent, 1 when one is not, 2 for
wrong usage. Needs Python 3 and the openssl program (for Ed25519).
"""
import argparse
import base64
import binascii
import hashlib
import json
import math
import os
import re
import subprocess
import sys
import tempfile

MAX_LINE, MAX_LEAF, MAX_CHECKPOINT, MAX_SIGNATURES = 131_072, 65_535, 64 * 1024, 64
MAX_DEPTH, MAX_VALUES = 64, 10_000
INT64 = range(-(2**63), 2**63)
EM_DASH = "\u2014 "
ORIGIN = re.compile(r"exa/audit/[a-z0-9-]{1,63}\Z")
KEY_TEXT = re.compile(r"(exa/audit/[a-z0-9-]{1,63})\+([0-9a-f]{8})\+([A-Za-z0-9+/=]+)\Z")
HEADER = re.compile(rb'\{"exa_audit_bundle":1,"key":"([^"\\]*)"\}\Z')
TIME = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})\.[0-9]{6}Z\Z")
DIGEST = re.compile(r"(?:[0-9a-f]{64})?\Z")
SPKI_PREFIX = bytes.fromhex("302a300506032b6570032100")  # RFC 8410: an Ed25519 public key follows

TEXTS = ("actor_kind", "actor_name", "actor_id", "origin", "action", "object_kind", "object_name",
         "project", "outcome", "error_code", "reason", "before_digest", "after_digest")
KEYS = frozenset(TEXTS) | {"format", "index", "time", "object_version", "details"}


class Trouble(Exception):
    """The first thing wrong: what, where, and the entries it concerns."""

    def __init__(self, finding, where, first=None, last=None):
        super().__init__(finding)
        self.finding, self.where, self.first, self.last = finding, where, first, last


def entries(first, last):
    return f"entry {first}" if first == last else f"entries {first} to {last}"


# --- JSON ----------------------------------------------------------------------------------------

def unique(pairs):
    result = dict(pairs)
    if len(result) != len(pairs):
        raise ValueError("a key stands twice")
    return result


def refuse_constant(text):
    raise ValueError(text)


def finite(text):
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("not finite")
    return number


def bounded(value, depth=1):
    """How many values; refuses what nests too deep or holds half a surrogate pair."""
    if isinstance(value, str):
        value.encode("utf-8")
        return 1
    if not isinstance(value, (dict, list)):
        return 1
    if depth > MAX_DEPTH:
        raise ValueError("too deep")
    if isinstance(value, dict):
        for key in value:
            key.encode("utf-8")
        value = value.values()
    return 1 + sum(bounded(child, depth + 1) for child in value)


def whole(text):
    number = int(text) if len(text) < 400 else finite(text)
    finite(text)  # an integer that no double can hold is refused as well
    return number


def read_json(raw):
    """The value; ValueError for anything that the format refuses."""
    try:
        value = json.loads(raw.decode("utf-8"), object_pairs_hook=unique,
                           parse_constant=refuse_constant, parse_float=finite, parse_int=whole)
    except RecursionError:
        raise ValueError("too deep") from None
    if bounded(value) >= MAX_VALUES:
        raise ValueError("too many values")
    return value


SHORT = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}


def canonical_string(text):
    return '"' + "".join(SHORT.get(c) or (f"\\u{ord(c):04x}" if c < " " else c) for c in text) + '"'


# --- small parts ---------------------------------------------------------------------------------

def strict_base64(text):
    try:
        raw = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if base64.b64encode(raw).decode() == text else None


def is_time(text):
    match = TIME.match(text)
    if not match:
        return False
    year, month, day, hour, minute, second = map(int, match.groups())
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return (1 <= month <= 12 and 1 <= day <= days[month - 1]
            and hour < 24 and minute < 60 and second < 60)


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


class Key:
    def __init__(self, name, public):
        self.name, self.public = name, public
        self.id = sha256(name.encode(), b"\n\x01", public)[:4]
        self.text = f"{name}+{self.id.hex()}+{base64.b64encode(bytes([1]) + public).decode()}"

    @staticmethod
    def parse(text):
        """The key, or None."""
        match = KEY_TEXT.match(text)
        raw = strict_base64(match[3]) if match else None
        if raw is None or len(raw) != 33 or raw[0] != 1:
            return None
        key = Key(match[1], raw[1:])
        return key if key.text == text else None


_verified = {}


def good_signature(key, message, signature):
    question = (key.public, message, signature)
    if question not in _verified:
        _verified[question] = ask_openssl(*question)
    return _verified[question]


def ask_openssl(public, message, signature):
    body = base64.b64encode(SPKI_PREFIX + public).decode()
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, name) for name in ("key.pem", "message", "signature")]
        pem = f"-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n".encode()
        for path, content in zip(paths, (pem, message, signature)):
            with open(path, "wb") as out:
                out.write(content)
        done = subprocess.run(["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", paths[0], "-rawin",
                               "-in", paths[1], "-sigfile", paths[2]],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    return done.returncode == 0


# --- tree ----------------------------------------------------------------------------------------

class Edge:
    def __init__(self):
        self.size, self.peaks = 0, []

    def append(self, leaf):
        carried, rest = sha256(b"\x00", leaf), self.size
        while rest & 1:
            carried = sha256(b"\x01", self.peaks.pop(), carried)
            rest >>= 1
        self.peaks.append(carried)
        self.size += 1

    def root(self):
        if not self.peaks:
            return sha256(b"")
        result = self.peaks[-1]
        for peak in reversed(self.peaks[:-1]):
            result = sha256(b"\x01", peak, result)
        return result


# --- checkpoint ----------------------------------------------------------------------------------

class Malformed(Exception):
    pass


def need(condition):
    if not condition:
        raise Malformed


def read_signature_line(line):
    need(line.startswith(EM_DASH))
    name, blank, encoded = line[len(EM_DASH):].partition(" ")
    need(blank and name)
    raw = strict_base64(encoded)
    need(raw is not None and len(raw) >= 5)
    return name, raw[:4], raw[4:]


def read_checkpoint(raw):
    """(origin, size, root, signed bytes, signatures); Malformed when it has another form."""
    need(len(raw) <= MAX_CHECKPOINT)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        raise Malformed from None
    need(all(c >= " " or c == "\n" for c in text))
    gap = text.rfind("\n\n")
    need(gap >= 0 and text.endswith("\n"))
    body, rest = text[:gap + 1], text[gap + 2:]
    need(rest)
    lines = rest[:-1].split("\n")
    need(len(lines) <= MAX_SIGNATURES)
    signatures = [read_signature_line(line) for line in lines]
    head = body[:-1].split("\n")
    need(len(head) in (3, 4) and ORIGIN.match(head[0]))
    need(re.match(r"(0|[1-9][0-9]{0,18})\Z", head[1]) and int(head[1]) < 2**63)
    root = strict_base64(head[2])
    need(root is not None and len(root) == 32)
    need(len(head) == 3 or (head[3].startswith("time ") and is_time(head[3][5:])))
    return head[0], int(head[1]), root, body.encode(), signatures


def check_checkpoint(raw, key, where):
    """(size, root) of a checkpoint that `key` signed."""
    try:
        origin, size, root, body, signatures = read_checkpoint(raw)
    except Malformed:
        raise Trouble("malformed_checkpoint", where) from None
    ours = [signature for name, ident, signature in signatures if (name, ident) == (key.name, key.id)]
    if not all(good_signature(key, body, signature) for signature in ours):
        raise Trouble("bad_signature", where)
    if not ours:
        raise Trouble("unknown_key", where)
    if origin != key.name:
        raise Trouble("other_log", where)
    return size, root


# --- entry ---------------------------------------------------------------------------------------

def is_whole(value):
    return type(value) is int and value in INT64


def read_entry(line):
    """(index, time) of an entry; ValueError when it is none."""
    if len(line) > MAX_LEAF or not (line.startswith(b"{") and line.endswith(b"}")):
        raise ValueError("not an entry")
    entry = read_json(line)
    good = (isinstance(entry, dict) and entry.keys() == KEYS
            and all(isinstance(entry[key], str) for key in TEXTS)
            and is_whole(entry["format"]) and entry["format"] == 1
            and is_whole(entry["index"]) and entry["index"] >= 0
            and isinstance(entry["time"], str) and is_time(entry["time"])
            and entry["actor_kind"] in ("os-user", "user", "service-account")
            and entry["action"] != ""
            and (entry["object_version"] is None or is_whole(entry["object_version"]))
            and entry["outcome"] in ("done", "refused")
            and (entry["outcome"] == "done") == (entry["error_code"] == "")
            and all(DIGEST.match(entry[key]) for key in ("before_digest", "after_digest"))
            and isinstance(entry["details"], dict))
    if not good:
        raise ValueError("not an entry")
    return entry["index"], entry["time"]


# --- bundle --------------------------------------------------------------------------------------

class Verification:
    def __init__(self, key, checkpoints):
        self.given_key, self.given_checkpoints = key, checkpoints
        self.key, self.tree, self.matched, self.last_time = None, Edge(), None, ""
        self.expected = {}
        self.covered, self.after_checkpoint = 0, False

    def run(self, text):
        *lines, rest = text.split(b"\n")
        for number, line in enumerate(lines, 1):
            self.take(number, line)
        if len(rest) > MAX_LINE:
            raise Trouble("malformed_bundle", f"line {len(lines) + 1}")
        self.finish(cut=bool(rest) or not lines)

    def take(self, number, line):
        here = f"line {number}"
        if len(line) > MAX_LINE:
            raise Trouble("malformed_bundle", here)
        if number == 1:
            self.header(line, here)
        elif line.startswith(b"{"):
            self.entry(line)
        elif line.startswith(b'"'):
            self.checkpoint(line, here)
        else:
            raise Trouble("malformed_bundle", here)

    def header(self, line, here):
        match = HEADER.match(line)
        key = Key.parse(match[1].decode("latin-1")) if match else None
        if key is None:
            raise Trouble("malformed_bundle", here)
        self.key = key
        if self.given_key and self.given_key.text != key.text:
            raise Trouble("unknown_key", here)
        for number, raw in enumerate(self.given_checkpoints, 1):
            size, root = check_checkpoint(raw, key, f"checkpoint {number}")
            if self.expected.setdefault(size, root) != root:
                raise Trouble("checkpoints_disagree", f"checkpoint {number}")
        self.compare_expected()

    def entry(self, line):
        self.after_checkpoint = False
        wanted = self.tree.size
        at = (f"entry {wanted}", wanted, wanted)
        try:
            index, time = read_entry(line)
        except ValueError:
            raise Trouble("malformed_entry", *at) from None
        if index != wanted:
            raise Trouble("gap" if index > wanted else "out_of_order", *at)
        if time < self.last_time:
            raise Trouble("time_backwards", *at)
        self.last_time = time
        self.tree.append(line)
        self.compare_expected()

    def checkpoint(self, line, here):
        if self.after_checkpoint:
            raise Trouble("malformed_bundle", here)
        try:
            text = read_json(line)
        except ValueError:
            raise Trouble("malformed_bundle", here) from None
        if not isinstance(text, str) or canonical_string(text).encode() != line:
            raise Trouble("malformed_bundle", here)
        self.after_checkpoint, self.covered = True, self.tree.size
        size, root = check_checkpoint(text.encode(), self.key, here)
        if size > self.tree.size:
            raise Trouble("log_too_short", here, self.tree.size, size - 1)
        if size < self.tree.size:
            raise Trouble("not_covered", here, size, self.tree.size - 1)
        self.compare(size, root)

    def compare_expected(self):
        if self.tree.size in self.expected:
            self.compare(self.tree.size, self.expected[self.tree.size])

    def compare(self, size, root):
        if self.tree.root() == root:
            self.matched = size
            return
        if size == 0:
            raise Trouble("root_differs", "checkpoint of size 0")
        first = self.matched or 0
        raise Trouble("root_differs", entries(first, size - 1), first, size - 1)

    def finish(self, cut):
        if cut:
            raise Trouble("malformed_bundle", "end")
        size = self.tree.size
        if not self.after_checkpoint:
            if size == self.covered:
                raise Trouble("no_checkpoint", "end")
            raise Trouble("not_covered", entries(self.covered, size - 1), self.covered, size - 1)
        largest = max(self.expected, default=0)
        if largest > size:
            raise Trouble("log_too_short", entries(size, largest - 1), size, largest - 1)


def verify(text, key=None, checkpoints=()):
    check = Verification(key, checkpoints)
    trouble = Trouble("consistent", "")
    try:
        check.run(text)
    except Trouble as found:
        trouble = found
    return {"ok": trouble.finding == "consistent", "finding": trouble.finding, "where": trouble.where,
            "first_bad_index": trouble.first, "last_bad_index": trouble.last, "size": check.tree.size,
            "root": check.tree.root().hex(), "checkpoint_size": check.matched,
            "key": check.key.text if check.key else ""}


def main():
    parser = argparse.ArgumentParser(description="Verify exa audit bundles.")
    parser.add_argument("--key", help="the public key you know")
    parser.add_argument("--checkpoint", action="append", default=[], help="file of one seen before")
    parser.add_argument("bundle", nargs="+")
    arguments = parser.parse_args()
    key = Key.parse(arguments.key) if arguments.key else None
    if arguments.key and key is None:
        parser.error("--key is not an audit public key")
    remembered = []
    for path in arguments.checkpoint:
        with open(path, "rb") as file:
            remembered.append(file.read())
    all_good = True
    for path in arguments.bundle:
        with open(path, "rb") as file:
            verdict = verify(file.read(), key, remembered)
        all_good = all_good and verdict["ok"]
        print(json.dumps({"bundle": path, **verdict}))
    return 0 if all_good else 1


if __name__ == "__main__":
    sys.exit(main())
