package history

// The store's marks in SQLite's header: see https://www.sqlite.org/fileformat.html.
const (
	applicationID = 0x73746368 // "stch"
	schemaVersion = 1
)

// schema makes an empty store. Times are milliseconds since 1970, mtime and ctime
// nanoseconds; paths are relative to the user's folder, with slashes.
const schema = `
CREATE TABLE meta(k TEXT PRIMARY KEY, v) WITHOUT ROWID;
CREATE TABLE pack(first INTEGER PRIMARY KEY, n INTEGER NOT NULL, raw INTEGER NOT NULL, lens BLOB NOT NULL, keys BLOB NOT NULL, data BLOB NOT NULL);
CREATE TABLE key(k BLOB PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE chat(id INTEGER PRIMARY KEY, kind TEXT NOT NULL, owner TEXT NOT NULL, name TEXT NOT NULL, slug TEXT NOT NULL, parent INTEGER REFERENCES chat, gone_at INTEGER);
CREATE INDEX chat_name ON chat(owner, name);
CREATE INDEX chat_slug ON chat(slug) WHERE slug <> '';
CREATE TABLE version(id INTEGER PRIMARY KEY, chat INTEGER NOT NULL REFERENCES chat, rev INTEGER NOT NULL, at INTEGER NOT NULL, mtime INTEGER NOT NULL, size INTEGER NOT NULL, messages INTEGER NOT NULL, source TEXT NOT NULL, note TEXT NOT NULL, sum BLOB NOT NULL, runs BLOB NOT NULL, UNIQUE(chat, rev));
CREATE INDEX version_at ON version(at);
CREATE TABLE seen(path TEXT PRIMARY KEY, version INTEGER NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, ctime_ns INTEGER NOT NULL, inode INTEGER NOT NULL, racy INTEGER NOT NULL) WITHOUT ROWID;
`

// Keys of the table meta.
const (
	metaID         = "id"
	metaCreated    = "created"
	metaSalt       = "salt"
	metaRoot       = "root"
	metaDevice     = "root_dev"
	metaInode      = "root_ino"
	metaGeneration = "generation" // how often packs were rewritten
	metaFloor      = "floor"      // numbers below it were used; none is used twice
)
