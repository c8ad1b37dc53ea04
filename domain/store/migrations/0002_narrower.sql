-- Fewer trees to keep for each post: the rows stand in their primary key, and the
-- indexes hold only what is looked for through them.

CREATE TABLE requests_next (
  id           TEXT NOT NULL PRIMARY KEY,
  organization TEXT NOT NULL,
  session      TEXT NOT NULL,
  kind         TEXT NOT NULL,
  action       TEXT NOT NULL,
  input        BLOB NOT NULL,
  principal    TEXT NOT NULL,
  verified     INTEGER NOT NULL,
  source       TEXT NOT NULL,
  cause        TEXT NOT NULL,
  depth        INTEGER NOT NULL,
  position     INTEGER NOT NULL,
  lane         TEXT NOT NULL,
  status       TEXT NOT NULL,
  failure      BLOB,
  output       BLOB,
  owner        TEXT NOT NULL,
  until        INTEGER NOT NULL,
  attempt      INTEGER NOT NULL,
  key          TEXT NOT NULL,
  queued_at    INTEGER NOT NULL,
  started_at   INTEGER NOT NULL,
  finished_at  INTEGER NOT NULL,
  FOREIGN KEY (organization, session) REFERENCES sessions (organization, id)
) STRICT, WITHOUT ROWID;

INSERT INTO requests_next SELECT * FROM requests ORDER BY id;
DROP TABLE requests;
ALTER TABLE requests_next RENAME TO requests;

-- Reads leave a row and take no place in the history window.
CREATE UNIQUE INDEX requests_by_position ON requests (organization, session, position) WHERE lane <> 'read';
CREATE INDEX requests_by_session ON requests (organization, session, id);
CREATE UNIQUE INDEX requests_one_turn ON requests (organization, session) WHERE status = 'running' AND lane = 'turn';
CREATE UNIQUE INDEX requests_by_key ON requests (organization, session, principal, action, key) WHERE key <> '';
CREATE INDEX requests_turns_queued ON requests (organization, session, position) WHERE status = 'queued' AND lane = 'turn';
CREATE INDEX requests_queued ON requests (id) WHERE status = 'queued';
CREATE INDEX requests_running ON requests (until) WHERE status = 'running';
CREATE INDEX requests_open ON requests (organization, session) WHERE status IN ('queued', 'running');
CREATE INDEX requests_failed ON requests (organization, session, id) WHERE status IN ('failed', 'cancelled');
CREATE INDEX requests_by_cause ON requests (cause) WHERE cause <> '';
CREATE INDEX requests_agent_caused ON requests (organization, session, queued_at) WHERE depth > 0;

CREATE TABLE items_next (
  organization TEXT NOT NULL,
  session      TEXT NOT NULL,
  seq          INTEGER NOT NULL,
  id           TEXT NOT NULL,
  request      TEXT NOT NULL,
  position     INTEGER NOT NULL, -- of its request, so that a history window needs no join
  type         TEXT NOT NULL,
  component    TEXT NOT NULL,
  data         BLOB NOT NULL,
  created_at   INTEGER NOT NULL,
  PRIMARY KEY (organization, session, seq),
  FOREIGN KEY (organization, session) REFERENCES sessions (organization, id)
) STRICT, WITHOUT ROWID;

INSERT INTO items_next SELECT organization, session, seq, id, request, position, type, component, data, created_at
FROM items ORDER BY organization, session, seq;
DROP TABLE items;
ALTER TABLE items_next RENAME TO items;

CREATE INDEX items_by_component ON items (organization, session, component, seq) WHERE component <> '';
CREATE INDEX items_by_type ON items (organization, session, type, seq) WHERE type <> 'component';
-- A request's items, and those of a window of requests, stand together here.
CREATE INDEX items_by_position ON items (organization, session, position, seq);
