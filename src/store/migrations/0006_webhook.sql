-- How far a webhook was told. What another system has heard is no state of this one: there are no
-- entries of the audit log about it.
CREATE TABLE webhook_told (
  target TEXT PRIMARY KEY,  -- SHA-256 of its address, which may hold a secret
  revision BIGINT NOT NULL  -- up to which the log was told, or held nothing to tell
);
