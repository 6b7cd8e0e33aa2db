-- Accounts, roles, tokens, sessions, limits and sharing. `spec` is the whole document of a row, the
-- one that the audit log digests; columns beside it are for finding it. Secrets are kept as hashes
-- only. Times are microseconds since 1970 (UTC).

-- Names are never given twice: an account is disabled, not removed. oidc is "ISSUER SUBJECT".
CREATE TABLE account_user (
  name TEXT PRIMARY KEY,
  spec TEXT NOT NULL,
  oidc TEXT,
  disabled_at BIGINT
);
CREATE UNIQUE INDEX account_user_oidc ON account_user (oidc);

CREATE TABLE user_password (
  name TEXT PRIMARY KEY REFERENCES account_user (name),
  spec TEXT NOT NULL,
  hash TEXT NOT NULL
);

CREATE TABLE account_group (
  name TEXT PRIMARY KEY,
  spec TEXT NOT NULL,
  oidc_group TEXT
);

CREATE TABLE group_member (
  name TEXT PRIMARY KEY,
  spec TEXT NOT NULL,
  group_name TEXT NOT NULL REFERENCES account_group (name),
  user_name TEXT NOT NULL REFERENCES account_user (name)
);
CREATE INDEX group_member_by_user ON group_member (user_name);
CREATE INDEX group_member_by_group ON group_member (group_name);

-- Explicit verbs in explicit projects, both in its document.
CREATE TABLE service_account (
  name TEXT PRIMARY KEY,
  spec TEXT NOT NULL,
  disabled_at BIGINT
);

-- Who (user or group) has which role where; project is NULL for roles of the platform.
CREATE TABLE role_binding (
  name TEXT PRIMARY KEY,
  spec TEXT NOT NULL,
  project TEXT REFERENCES project (name),
  subject_kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  role TEXT NOT NULL
);
CREATE INDEX role_binding_by_subject ON role_binding (subject_kind, subject);
CREATE INDEX role_binding_by_project ON role_binding (project);

-- last_used is kept for people and is no evidence: the log does not vouch for it.
CREATE TABLE access_token (
  id TEXT PRIMARY KEY,
  spec TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  owner_kind TEXT NOT NULL,
  owner TEXT NOT NULL,
  expires_at BIGINT NOT NULL,
  revoked_at BIGINT,
  last_used BIGINT
);
CREATE UNIQUE INDEX access_token_sha256 ON access_token (sha256);
CREATE INDEX access_token_by_owner ON access_token (owner_kind, owner);

-- last_seen is no evidence either.
CREATE TABLE sign_in_session (
  id TEXT PRIMARY KEY,
  spec TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  user_name TEXT NOT NULL REFERENCES account_user (name),
  expires_at BIGINT NOT NULL,
  last_seen BIGINT NOT NULL
);
CREATE UNIQUE INDEX sign_in_session_sha256 ON sign_in_session (sha256);
CREATE INDEX sign_in_session_by_user ON sign_in_session (user_name);

-- One row at most.
CREATE TABLE setup_code (
  name TEXT PRIMARY KEY,
  spec TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  used_at BIGINT
);

CREATE TABLE project_limits (
  name TEXT PRIMARY KEY REFERENCES project (name),
  spec TEXT NOT NULL
);

-- "PROJECT/PROFILE"; no row: shared with nobody.
CREATE TABLE profile_share (
  name TEXT PRIMARY KEY,
  spec TEXT NOT NULL,
  project TEXT NOT NULL REFERENCES project (name)
);
