-- All times are milliseconds since the epoch, UTC; 0 is "not yet".

CREATE TABLE meta (
  name  TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
  organization  TEXT NOT NULL,
  id            TEXT NOT NULL,
  kind          TEXT NOT NULL,
  owner         TEXT NOT NULL,
  parent        TEXT NOT NULL,
  flow_id       TEXT NOT NULL,
  state         BLOB,
  last_position INTEGER NOT NULL,
  last_seq      INTEGER NOT NULL,
  created_at    INTEGER NOT NULL,
  PRIMARY KEY (organization, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_by_parent ON sessions (organization, parent, id) WHERE parent <> '';
CREATE INDEX sessions_by_kind ON sessions (organization, kind, id);
CREATE INDEX sessions_by_flow ON sessions (organization, flow_id, id) WHERE flow_id <> '';

CREATE TABLE requests (
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
) STRICT;

CREATE UNIQUE INDEX requests_by_position ON requests (organization, session, position);
CREATE UNIQUE INDEX requests_one_turn ON requests (organization, session) WHERE status = 'running' AND lane = 'turn';
CREATE UNIQUE INDEX requests_by_key ON requests (organization, session, principal, action, key) WHERE key <> '';
CREATE INDEX requests_counted ON requests (organization, session, position) WHERE lane <> 'read';
CREATE INDEX requests_turns_queued ON requests (organization, session, position) WHERE status = 'queued' AND lane = 'turn';
CREATE INDEX requests_queued ON requests (id) WHERE status = 'queued';
CREATE INDEX requests_running ON requests (until) WHERE status = 'running';
CREATE INDEX requests_open ON requests (organization, session) WHERE status IN ('queued', 'running');
CREATE INDEX requests_failed ON requests (organization, session, id) WHERE status IN ('failed', 'cancelled');
CREATE INDEX requests_by_cause ON requests (cause) WHERE cause <> '';
CREATE INDEX requests_agent_caused ON requests (organization, session, queued_at) WHERE depth > 0;

CREATE TABLE items (
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
) STRICT;

CREATE INDEX items_by_component ON items (organization, session, component, seq) WHERE component <> '';
CREATE INDEX items_by_type ON items (organization, session, type, seq);
CREATE INDEX items_by_request ON items (request, seq);

CREATE TABLE deliveries (
  organization TEXT NOT NULL,
  mailbox      TEXT NOT NULL,
  post         TEXT NOT NULL, -- the line's id
  post_seq     INTEGER NOT NULL, -- the line's seq among the mailbox's items
  member       TEXT NOT NULL,
  ordinal      INTEGER NOT NULL, -- the member's place in the roster
  state        TEXT NOT NULL,
  code         TEXT NOT NULL,
  reason       TEXT NOT NULL,
  request      TEXT NOT NULL, -- the seat's run that it woke, or empty
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  PRIMARY KEY (organization, mailbox, post, member)
) STRICT, WITHOUT ROWID;

CREATE INDEX deliveries_by_request ON deliveries (request) WHERE request <> '';
CREATE INDEX deliveries_open ON deliveries (organization, mailbox, state);
