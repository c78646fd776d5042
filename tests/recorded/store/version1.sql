CREATE TABLE devices (
  id INTEGER PRIMARY KEY,
  uuid TEXT NOT NULL,
  name TEXT NOT NULL,
  limits TEXT NOT NULL,
  UNIQUE (uuid, limits)
);
CREATE TABLE runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  command_line TEXT NOT NULL,
  started_at TEXT NOT NULL,
  wall_s REAL NOT NULL DEFAULT 0,
  complete INTEGER NOT NULL DEFAULT 0,
  anew INTEGER NOT NULL,
  space TEXT NOT NULL,
  family TEXT NOT NULL,
  baseline TEXT,
  device INTEGER NOT NULL REFERENCES devices,
  free_memory_bytes INTEGER NOT NULL,
  policy TEXT NOT NULL,
  toolchain TEXT NOT NULL,
  conditions TEXT NOT NULL,
  plan TEXT NOT NULL
);
CREATE INDEX runs_by_plan ON runs (plan);
CREATE TABLE problems (
  id INTEGER PRIMARY KEY,
  batch INTEGER NOT NULL,
  seq_len INTEGER NOT NULL,
  heads INTEGER NOT NULL,
  d_head INTEGER NOT NULL,
  dtype INTEGER NOT NULL,
  causal INTEGER NOT NULL,
  UNIQUE (batch, seq_len, heads, d_head, dtype, causal)
);
CREATE TABLE run_problems (
  id INTEGER PRIMARY KEY,
  run INTEGER NOT NULL REFERENCES runs,
  problem INTEGER NOT NULL REFERENCES problems,
  repetition INTEGER NOT NULL,
  pruned INTEGER NOT NULL,
  invalid INTEGER NOT NULL,
  ranked INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX run_problems_by_run ON run_problems (run);
CREATE TABLE configurations (
  id INTEGER PRIMARY KEY,
  family TEXT NOT NULL,
  short_form TEXT NOT NULL,
  source_hash TEXT NOT NULL,
  kernel_name TEXT NOT NULL,
  config TEXT NOT NULL,
  parameters TEXT NOT NULL,
  UNIQUE (family, short_form, source_hash, kernel_name, config, parameters)
);
CREATE TABLE artifacts (
  id INTEGER PRIMARY KEY,
  key TEXT NOT NULL,
  code_hash TEXT NOT NULL,
  facts TEXT NOT NULL,
  UNIQUE (key, code_hash, facts)
);
CREATE TABLE outcomes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run_problem INTEGER NOT NULL REFERENCES run_problems,
  configuration INTEGER NOT NULL REFERENCES configurations,
  artifact INTEGER REFERENCES artifacts,
  launch TEXT NOT NULL,
  tried INTEGER NOT NULL,
  source INTEGER REFERENCES outcomes,
  kind TEXT NOT NULL,
  time_us REAL,
  outcome TEXT NOT NULL,
  digest TEXT NOT NULL,
  dynamic_smem_bytes INTEGER NOT NULL,
  threads_per_block INTEGER NOT NULL,
  blocks_per_sm INTEGER NOT NULL,
  compile_ms REAL NOT NULL,
  from_cache INTEGER NOT NULL,
  total_flop REAL,
  rank INTEGER NOT NULL DEFAULT 0,
  tie_group INTEGER NOT NULL DEFAULT 0,
  relative_percent REAL NOT NULL DEFAULT 0,
  place INTEGER
);
CREATE INDEX outcomes_by_problem ON outcomes (run_problem);
CREATE INDEX outcomes_by_artifact ON outcomes (artifact);
CREATE TABLE samples (
  outcome INTEGER NOT NULL REFERENCES outcomes,
  number INTEGER NOT NULL,
  us REAL NOT NULL,
  PRIMARY KEY (outcome, number)
) WITHOUT ROWID;
PRAGMA application_id = 1178686549;
PRAGMA user_version = 1;
