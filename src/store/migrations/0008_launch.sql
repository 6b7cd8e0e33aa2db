-- Workbenches, training runs and services that were launched, each with the shape it got. `spec` is
-- the whole document of a row, the one that the audit log digests; columns beside it are for finding
-- it. Times are microseconds since 1970 (UTC).
CREATE TABLE launch (
  id TEXT PRIMARY KEY,    -- "PROJECT/KIND/NAME"
  project TEXT NOT NULL REFERENCES project (name),
  kind TEXT NOT NULL,
  spec TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  open BIGINT NOT NULL    -- 1: it may run or come to run, so that its target is asked
);
CREATE INDEX launch_by_project ON launch (project, kind, created_at);
CREATE INDEX launch_open ON launch (open) WHERE open = 1;
-- What a dry run said it would do, for a day: bookkeeping, which the audit log does not vouch for. It
-- is done only while all that it read is still so.
CREATE TABLE launch_plan (
  id TEXT PRIMARY KEY,
  project TEXT NOT NULL,
  route TEXT NOT NULL,
  args TEXT NOT NULL,  -- JSON, with the name that was planned
  seen TEXT NOT NULL,  -- JSON: what it rests on
  kept_at BIGINT NOT NULL
);
