/**
 * The tables. `entries` has a record for each key, as on LevelDB. `commits` has a row for each of
 * the last groups of commits. Its `keys` are those that the group has changed, for other processes.
 * The `head` of the newest row describes the database.
 */
export const createTables: readonly string[] = [
  "CREATE TABLE entries (key BLOB PRIMARY KEY, record BLOB NOT NULL) WITHOUT ROWID",
  "CREATE TABLE commits (sequence INTEGER PRIMARY KEY, head BLOB NOT NULL, keys BLOB NOT NULL)",
];

/** The number in the header of the file that names its program: `KWRT`. */
export const applicationId: number = 0x4b575254;

/** The version of the format, which is `user_version` in the header of the file. */
export const formatVersion: number = 1;
