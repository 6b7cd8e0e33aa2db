-- The registry, clusters, the audit log. Times are microseconds since 1970 (UTC).
CREATE TABLE project (
  name TEXT PRIMARY KEY,
  created_at BIGINT NOT NULL,
  created_by TEXT NOT NULL
);
INSERT INTO project VALUES ('default', 0, 'exa');

-- The head of a name. It outlives its versions, so that no number is ever given twice.
CREATE TABLE profile (
  project TEXT NOT NULL REFERENCES project (name),
  name TEXT NOT NULL,
  last_version BIGINT NOT NULL,
  PRIMARY KEY (project, name)
);

-- Immutable, but for the mark that makes a version a tombstone.
CREATE TABLE profile_version (
  project TEXT NOT NULL,
  name TEXT NOT NULL,
  version BIGINT NOT NULL,
  shape TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  created_by TEXT NOT NULL,
  deleted_at BIGINT,
  deleted_by TEXT,
  PRIMARY KEY (project, name, version),
  FOREIGN KEY (project, name) REFERENCES profile (project, name)
);

CREATE TABLE profile_label (
  project TEXT NOT NULL,
  name TEXT NOT NULL,
  label TEXT NOT NULL,
  version BIGINT NOT NULL,
  PRIMARY KEY (project, name, label),
  FOREIGN KEY (project, name, version) REFERENCES profile_version (project, name, version)
);

-- Every move of a label; to_version is NULL where a label was dropped.
CREATE TABLE profile_label_move (
  project TEXT NOT NULL,
  name TEXT NOT NULL,
  label TEXT NOT NULL,
  sequence BIGINT NOT NULL,
  from_version BIGINT,
  to_version BIGINT,
  moved_at BIGINT NOT NULL,
  moved_by TEXT NOT NULL,
  PRIMARY KEY (project, name, label, sequence)
);

-- version 0: the whole name is retired.
CREATE TABLE profile_deprecation (
  project TEXT NOT NULL,
  name TEXT NOT NULL,
  version BIGINT NOT NULL,
  redirect TEXT NOT NULL,
  reason TEXT NOT NULL,
  deprecated_at BIGINT NOT NULL,
  deprecated_by TEXT NOT NULL,
  PRIMARY KEY (project, name, version)
);

-- Who runs on which version, with the shape it got: answerable whatever happens to the profile.
CREATE TABLE consumer (
  project TEXT NOT NULL REFERENCES project (name),
  kind TEXT NOT NULL,
  ref TEXT NOT NULL,
  profile TEXT NOT NULL,
  version BIGINT NOT NULL,
  shape TEXT NOT NULL,
  cluster TEXT,
  since BIGINT NOT NULL,
  recorded_by TEXT NOT NULL,
  PRIMARY KEY (project, kind, ref)
);
CREATE INDEX consumer_by_profile ON consumer (project, profile, version);

CREATE TABLE cluster (
  uid TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  address TEXT NOT NULL,
  max_age BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  created_by TEXT NOT NULL,
  removed_at BIGINT
);
CREATE UNIQUE INDEX cluster_name ON cluster (name) WHERE removed_at IS NULL;

CREATE TABLE snapshot (
  id TEXT PRIMARY KEY,
  cluster_uid TEXT NOT NULL REFERENCES cluster (uid),
  sequence BIGINT NOT NULL,
  taken_at BIGINT NOT NULL,
  source TEXT NOT NULL,
  declared BIGINT NOT NULL,
  capacity TEXT NOT NULL,
  inventory TEXT NOT NULL
);
CREATE UNIQUE INDEX snapshot_of_cluster ON snapshot (cluster_uid, sequence);

-- Every attempt to look, also those that failed; the last good snapshot stays.
CREATE TABLE probe (
  cluster_uid TEXT NOT NULL REFERENCES cluster (uid),
  sequence BIGINT NOT NULL,
  probed_at BIGINT NOT NULL,
  snapshot_id TEXT,
  error_code TEXT,
  error TEXT,
  PRIMARY KEY (cluster_uid, sequence)
);

-- The last answer for a version on a cluster, kept so that lists can show it with its age.
CREATE TABLE resolution (
  project TEXT NOT NULL,
  name TEXT NOT NULL,
  version BIGINT NOT NULL,
  cluster_uid TEXT NOT NULL REFERENCES cluster (uid),
  status TEXT NOT NULL,
  cause TEXT NOT NULL,
  reason TEXT NOT NULL,
  unconfirmed TEXT NOT NULL,
  snapshot_id TEXT NOT NULL,
  snapshot_taken_at BIGINT NOT NULL,
  resolved_at BIGINT NOT NULL,
  PRIMARY KEY (project, name, version, cluster_uid)
);

-- RFC 6962 log: leaves verbatim, and the right edge of the tree so that an append costs O(log n).
CREATE TABLE audit_entry (
  idx BIGINT PRIMARY KEY,
  leaf TEXT NOT NULL,
  leaf_hash BYTEA NOT NULL
);
CREATE TABLE audit_state (
  one BIGINT PRIMARY KEY,
  log_id TEXT NOT NULL,
  frontier BYTEA NOT NULL,
  last_time BIGINT NOT NULL
);

CREATE TABLE idempotency (
  principal TEXT NOT NULL,
  key TEXT NOT NULL,
  request_digest TEXT NOT NULL,
  status BIGINT NOT NULL,
  body TEXT NOT NULL,
  kept_at BIGINT NOT NULL,
  PRIMARY KEY (principal, key)
);
