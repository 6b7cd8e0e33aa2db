#!/usr/bin/env python3
"""Runs transcripts: commands with the output and exit code they must have.

    run_scripts.py EXA FILE...        check
    run_scripts.py EXA --write FILE   write what the commands print into the file, to be read and trimmed

A transcript is what a person sees:

    # A comment.
    $ exa project create vision
    name: vision
    created_at: <time>
    $ exa project create Vision
    ! error invalid_input: ...
    # exit 2

Lines after a command are its standard output; those that begin with "! " its standard error. Without
"# exit N" the exit code must be 0. Wildcards: <time> an RFC 3339 time, <id> an id or digest, <n> a
number, <age> an age like 3s, <dir> the data folder, where testdata/ is; "..." inside a line is any text, alone on a line
any lines. With "$ exa ... <<FILE" the lines that begin with "> " are given on standard input. Each file has a
data folder of its own, in which it also runs.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

WILD = {
    "<time>": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z",
    "<id>": r"[0-9A-Za-z:+/=_-]+",
    "<n>": r"\d+(?:\.\d+)?",
    "<age>": r"\d+[smhdy]",
    "...": r".*?",
}


class Step:
    def __init__(self, line, number):
        self.number, self.out, self.err, self.input, self.exit = number, [], [], [], 0
        self.comments = []  # above it, with the blank lines around them
        self.command, _, self.heredoc = line.partition(" <<")
        self.argv = shlex.split(self.command)


def parse(text, path):
    head, steps, comments = [], [], []
    for number, line in enumerate(text.splitlines(), 1):
        exit_code = re.fullmatch(r"# exit (\d+)", line)
        if line.startswith("$ "):
            steps.append(Step(line[2:], number))
            steps[-1].comments, comments = comments, []
            if not steps[-1].argv or steps[-1].argv[0] != "exa":
                raise SystemExit(f"{path}:{number}: a command begins with exa")
        elif not steps:
            head.append(line)
        elif exit_code:
            steps[-1].exit = int(exit_code[1])
        elif line.startswith("#"):
            comments.append(line)
        elif line == "" and comments:
            comments.append(line)
        elif line.startswith("> ") and steps[-1].heredoc:
            steps[-1].input.append(line[2:])
        elif line == "!" or line.startswith("! "):
            steps[-1].err.append(line[2:])
        else:
            steps[-1].out.append(line)
    if not steps:
        raise SystemExit(f"{path}: no commands in it")
    return head, steps


def pattern(lines, folder):
    result = ""
    while lines and lines[-1] == "":
        lines = lines[:-1]  # blank lines between commands are for the reader
    for line in lines:
        if line == "...":
            result += r"(?:.*\n)*?"
            continue
        parts = re.split("(" + "|".join(map(re.escape, [*WILD, "<dir>"])) + ")", line)
        for part in parts:
            result += WILD.get(part) or re.escape(folder if part == "<dir>" else part)
        result += "\n"
    return result


def run(exa, step, folder):
    environment = {"PATH": os.environ.get("PATH", ""), "HOME": folder, "EXA_HOME": folder,
                   "LC_ALL": "C.UTF-8", "TERM": "dumb"}
    if "ASAN_OPTIONS" in os.environ:
        environment["ASAN_OPTIONS"] = os.environ["ASAN_OPTIONS"]
    given = "".join(line + "\n" for line in step.input)
    done = subprocess.run([exa, *step.argv[1:]], input=given.encode(), capture_output=True, timeout=60,
                          env=environment, cwd=folder)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def new_folder():
    folder = tempfile.TemporaryDirectory(prefix="exa-script-")
    here = os.path.dirname(os.path.abspath(__file__))
    os.symlink(os.path.join(here, "..", "testdata"), os.path.join(folder.name, "testdata"))
    return folder


def ends_alike(want, text):
    trimmed = text.rstrip("\n")
    return re.fullmatch(want, trimmed + "\n" if trimmed else "") is not None


def check(exa, path):
    failures = 0
    with open(path) as file:
        _, steps = parse(file.read(), path)
    with new_folder() as folder:
        for step in steps:
            code, out, err = run(exa, step, folder)
            wrong = []
            if code != step.exit:
                wrong.append(f"exit {code}, not {step.exit}")
            if not ends_alike(pattern(step.out, folder), out):
                wrong.append("standard output differs")
            # notices may change without a script changing: they count only where a script names them
            if step.err and not ends_alike(pattern(step.err, folder), err):
                wrong.append("standard error differs")
            if wrong:
                failures += 1
                print(f"{path}:{step.number}: $ {step.command}\n  {'; '.join(wrong)}")
                print("".join(f"  | {line}\n" for line in out.splitlines()), end="")
                print("".join(f"  | ! {line}\n" for line in err.splitlines()), end="")
    print(f"{path}: {len(steps)} commands, {failures} failed")
    return failures


def wildcards(line):
    line = re.sub(WILD["<time>"], "<time>", line)
    line = re.sub(r"\b[0-9a-hjkmnp-tv-z]{26}\b", "<id>", line)
    line = re.sub(r"(?<=, )\d+[smhdy](?= old$)", "<age>", line)  # of a snapshot
    return re.sub(r"(?<=\s)\d+s$", "<age>", line)  # the last column of a table


def write(exa, path):
    with open(path) as file:
        head, steps = parse(file.read(), path)
    lines = list(head)
    with new_folder() as folder:
        for step in steps:
            code, out, err = run(exa, step, folder)
            if step.comments:
                lines += ["", *step.comments]
            lines.append("$ " + step.command + (" <<" + step.heredoc if step.heredoc else ""))
            lines += ["> " + line for line in step.input]
            text = (out.rstrip("\n").split("\n") if out.strip() else []) + ["! " + line for line in err.splitlines()]
            lines += [wildcards(line.replace(folder, "<dir>")) for line in text]
            if code:
                lines.append(f"# exit {code}")
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


def main(arguments):
    if len(arguments) < 2:
        raise SystemExit(__doc__)
    exa = os.path.abspath(arguments[0])
    if arguments[1] == "--write":
        for path in arguments[2:]:
            write(exa, path)
        return 0
    return 1 if sum(check(exa, path) for path in arguments[1:]) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
