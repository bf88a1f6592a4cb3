package history

// The store's marks in SQLite's header: see https://www.sqlite.org/fileformat.html.
const (
	applicationID = 0x73746368 // "stch"
	schemaVersion = 2
)

// schema makes an empty store. Times are milliseconds since 1970, mtime and ctime
// nanoseconds; paths are relative to the user's folder, with slashes. A tag is the row's
// checksum.
const schema = `
CREATE TABLE meta(k TEXT PRIMARY KEY, v) WITHOUT ROWID;
CREATE TABLE pack(first INTEGER PRIMARY KEY, n INTEGER NOT NULL, raw INTEGER NOT NULL, lens BLOB NOT NULL, keys BLOB NOT NULL, data BLOB NOT NULL);
CREATE TABLE key(k BLOB PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE run(id INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, whole INTEGER NOT NULL, note TEXT NOT NULL, tag BLOB NOT NULL);
CREATE TABLE chat(id INTEGER PRIMARY KEY AUTOINCREMENT, slug TEXT NOT NULL, main TEXT NOT NULL, tag BLOB NOT NULL);
CREATE TABLE place(id INTEGER PRIMARY KEY AUTOINCREMENT, chat INTEGER NOT NULL REFERENCES chat, path TEXT NOT NULL, first INTEGER NOT NULL, until INTEGER NOT NULL, tag BLOB NOT NULL);
CREATE UNIQUE INDEX place_path ON place(path) WHERE until = 0;
CREATE UNIQUE INDEX place_chat ON place(chat) WHERE until = 0;
CREATE TABLE version(id INTEGER PRIMARY KEY AUTOINCREMENT, chat INTEGER NOT NULL REFERENCES chat, run INTEGER NOT NULL, path TEXT NOT NULL, at INTEGER NOT NULL, mtime INTEGER NOT NULL, size INTEGER NOT NULL, messages INTEGER NOT NULL, source TEXT NOT NULL, note TEXT NOT NULL, thin INTEGER NOT NULL, sum BLOB NOT NULL, runs BLOB NOT NULL, tag BLOB NOT NULL);
CREATE INDEX version_chat ON version(chat, run);
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
