-- Long work that a server goes on with after it said so (202): bookkeeping, which the audit log does
-- not vouch for. What the work changes has entries of its own.
CREATE TABLE operation (
  id TEXT PRIMARY KEY,
  route TEXT NOT NULL,           -- "cluster.discover"
  target TEXT NOT NULL,          -- "/api/v1/clusters/hpc/discover"
  action TEXT NOT NULL,          -- what its route asks for: who may not do it does not see it
  principal TEXT NOT NULL,       -- who asked, by id
  started_by TEXT NOT NULL,      -- and by name
  idempotency_key TEXT,
  request_digest TEXT NOT NULL,
  changes BIGINT NOT NULL,       -- 1: no second one to the same target meanwhile
  worker TEXT NOT NULL,          -- the name that its process owns as long as it lives
  state TEXT NOT NULL,
  cancel_requested BIGINT NOT NULL,
  progress TEXT NOT NULL,        -- JSON; '' before the first report
  status BIGINT,                 -- of the answer, once there is one
  answer TEXT,
  created_at BIGINT NOT NULL,
  ended_at BIGINT
);
CREATE INDEX operation_by_age ON operation (created_at);
CREATE INDEX operation_by_key ON operation (principal, idempotency_key);
