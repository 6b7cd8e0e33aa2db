-- PaletteAI's manifests as they were written, the machines that may become nodes of ML platforms,
-- and the platforms that hold some of them. `spec` is the whole document of a row, the one that the
-- audit log digests; columns beside it are for finding it. Times are microseconds since 1970 (UTC).
CREATE TABLE manifest (
  id TEXT PRIMARY KEY,    -- "PROJECT/KIND/NAME"
  project TEXT NOT NULL REFERENCES project (name),
  kind TEXT NOT NULL,     -- as `exa get` takes it: "computeprofile"
  name TEXT NOT NULL,
  spec TEXT NOT NULL
);
CREATE INDEX manifest_by_kind ON manifest (kind, project, name);
CREATE TABLE machine_source (
  name TEXT PRIMARY KEY,
  spec TEXT NOT NULL
);
-- What came of looking at a source: bookkeeping.
CREATE TABLE machine_look (
  source TEXT PRIMARY KEY,
  looked_at BIGINT NOT NULL,
  succeeded_at BIGINT,      -- NULL: never
  error TEXT                -- NULL: the last look succeeded
);
-- What is believed of each machine from its reports: observations, which the audit log does not
-- vouch for. Two reports a minute for each machine are written here.
CREATE TABLE machine (
  id TEXT PRIMARY KEY,
  source TEXT NOT NULL,
  heard_at BIGINT NOT NULL,
  watched TEXT NOT NULL
);
CREATE INDEX machine_by_source ON machine (source);
-- The last status of a Compute, to tell when it changes: worked out from the rest.
CREATE TABLE compute_status (
  id TEXT PRIMARY KEY,    -- "PROJECT/NAME"
  status TEXT NOT NULL,
  changed_at BIGINT NOT NULL,
  reconciled_at BIGINT NOT NULL
);
CREATE TABLE ml_platform (
  id TEXT PRIMARY KEY,    -- "PROJECT/NAME"
  project TEXT NOT NULL REFERENCES project (name),
  spec TEXT NOT NULL
);
CREATE INDEX ml_platform_by_project ON ml_platform (project);
-- Programs that build platforms; registered by whoever administers the machine of exa.
CREATE TABLE provisioner (
  name TEXT PRIMARY KEY,
  spec TEXT NOT NULL
);
