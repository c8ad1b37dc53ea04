-- The one answer that a routed post has.
CREATE TABLE answers (
  organization TEXT NOT NULL,
  mailbox      TEXT NOT NULL,
  post         TEXT NOT NULL, -- the line's id
  line         TEXT NOT NULL, -- of the answer
  PRIMARY KEY (organization, mailbox, post)
) STRICT, WITHOUT ROWID;
