-- What happened, counted by the minute; minute 0 is all time. What is counted is
-- written in the transaction in which it happens.
CREATE TABLE tallies (
  organization TEXT NOT NULL,
  minute       INTEGER NOT NULL, -- since the epoch, UTC
  what         TEXT NOT NULL,
  n            INTEGER NOT NULL,
  PRIMARY KEY (organization, minute, what)
) STRICT, WITHOUT ROWID;

-- What failed lately, wherever it was.
CREATE INDEX requests_failed_lately ON requests (organization, id) WHERE status = 'failed';
