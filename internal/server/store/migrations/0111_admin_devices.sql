-- svc login --admin asks for rights that a login otherwise lacks, for a short time.
ALTER TABLE device_codes ADD COLUMN admin BOOLEAN NOT NULL DEFAULT FALSE;
