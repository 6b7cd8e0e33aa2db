-- What decides where work may run, and what was decided. `spec` is the whole document of a row, the
-- one that the audit log digests; columns beside it are for finding it. Times are microseconds
-- since 1970 (UTC).

-- Pools belong to the platform, not to a project. Decisions copy what they used of one, so a pool
-- that is removed leaves no hole.
CREATE TABLE pool (
  name TEXT PRIMARY KEY,
  spec TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  created_by TEXT NOT NULL,
  updated_at BIGINT NOT NULL,
  updated_by TEXT NOT NULL
);

-- Engines that an admin added to the shipped ones.
CREATE TABLE engine (
  name TEXT PRIMARY KEY,
  spec TEXT NOT NULL,
  set_at BIGINT NOT NULL,
  set_by TEXT NOT NULL
);

-- Regions whose jurisdiction an admin wrote over the shipped table.
CREATE TABLE region (
  name TEXT PRIMARY KEY,
  spec TEXT NOT NULL,
  set_at BIGINT NOT NULL,
  set_by TEXT NOT NULL
);

-- The class of data of a project that an admin labelled.
CREATE TABLE project_residency (
  name TEXT PRIMARY KEY REFERENCES project (name),
  spec TEXT NOT NULL,
  set_at BIGINT NOT NULL,
  set_by TEXT NOT NULL
);

-- One row once a policy was set; none: the shipped one.
CREATE TABLE burst_policy (
  name TEXT PRIMARY KEY,
  spec TEXT NOT NULL,
  set_at BIGINT NOT NULL,
  set_by TEXT NOT NULL
);

-- Every decision with every candidate, its prices and factors copied in. Never changed.
CREATE TABLE decision (
  id TEXT PRIMARY KEY,
  project TEXT NOT NULL REFERENCES project (name),
  workload TEXT NOT NULL,
  outcome TEXT NOT NULL,
  spec TEXT NOT NULL,
  decided_at BIGINT NOT NULL,
  decided_by TEXT NOT NULL
);
CREATE INDEX decision_by_project ON decision (project, decided_at);

-- Devices that are taken. A lease holds until it is released or until expires_at, whichever comes
-- first; expiring changes no row.
CREATE TABLE lease (
  id TEXT PRIMARY KEY,
  project TEXT NOT NULL REFERENCES project (name),
  pool TEXT NOT NULL,
  spec TEXT NOT NULL,
  taken_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL,
  ended_at BIGINT
);
CREATE INDEX lease_open ON lease (pool, expires_at) WHERE ended_at IS NULL;
CREATE INDEX lease_by_project ON lease (project, taken_at);

-- Every attempt to run in a cloud, allowed or blocked, with the pool and region that were judged.
CREATE TABLE burst_event (
  id TEXT PRIMARY KEY,
  project TEXT NOT NULL REFERENCES project (name),
  workload TEXT NOT NULL,
  allowed BIGINT NOT NULL,
  spec TEXT NOT NULL,
  attempted_at BIGINT NOT NULL,
  attempted_by TEXT NOT NULL
);
CREATE INDEX burst_event_by_project ON burst_event (project, attempted_at);

-- Leave to launch once in a cloud.
CREATE TABLE permit (
  id TEXT PRIMARY KEY,
  spec TEXT NOT NULL,
  event TEXT NOT NULL REFERENCES burst_event (id),
  expires_at BIGINT NOT NULL,
  used_at BIGINT
);
