-- Every change with a key drops the records that are past their day: without this it would read all.
CREATE INDEX idempotency_by_age ON idempotency (kept_at);
