-- The catalogue: compute profiles (SKUs) with their versions, the environment templates behind them,
-- and the instances that were launched from them. `spec` is the whole document of a row, the one
-- that the audit log digests; columns beside it are for finding it. Times are microseconds since
-- 1970 (UTC).
CREATE TABLE sku (
  id TEXT PRIMARY KEY,    -- "PROJECT/NAME"
  project TEXT NOT NULL REFERENCES project (name),
  name TEXT NOT NULL,
  spec TEXT NOT NULL      -- newest version, published, shared with, deleted
);
CREATE INDEX sku_by_project ON sku (project, name);
CREATE TABLE sku_version (
  id TEXT PRIMARY KEY,    -- "PROJECT/NAME@3"
  project TEXT NOT NULL REFERENCES project (name),
  name TEXT NOT NULL,
  version BIGINT NOT NULL,
  spec TEXT NOT NULL
);
CREATE INDEX sku_version_by_name ON sku_version (project, name, version);
CREATE TABLE environment_template (
  id TEXT PRIMARY KEY,    -- "NAME@VERSION"
  name TEXT NOT NULL,
  spec TEXT NOT NULL
);
CREATE INDEX environment_template_by_name ON environment_template (name);
CREATE TABLE instance (
  id TEXT PRIMARY KEY,    -- "PROJECT/NAME"
  project TEXT NOT NULL REFERENCES project (name),
  sku TEXT NOT NULL,      -- "PROJECT/NAME" of the compute profile
  created_at BIGINT NOT NULL,
  spec TEXT NOT NULL
);
CREATE INDEX instance_by_project ON instance (project);
CREATE INDEX instance_by_sku ON instance (sku);
-- What a project and each of its people may have of instances.
CREATE TABLE instance_limits (
  project TEXT PRIMARY KEY REFERENCES project (name),
  spec TEXT NOT NULL
);
