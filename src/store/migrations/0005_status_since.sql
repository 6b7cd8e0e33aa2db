-- Since when a resolution has had its status; 0: from before this was kept.
ALTER TABLE resolution ADD COLUMN status_since BIGINT NOT NULL DEFAULT 0;
