// SQLite's FTS5, with the stems of Porter and no accents. The texts are in a table of their own, as
// the rows of Keywright are.
import { statSync } from "node:fs";
import { join } from "node:path";
import { peer } from "../../contenders/peer.mjs";

export const title = "SQLite FTS5";

export async function open(folder, { hasIndex }) {
  const file = join(folder, "data.sqlite");
  const db = new (peer("better-sqlite3"))(file);
  db.pragma("journal_mode = WAL");
  db.pragma("synchronous = NORMAL");
  db.exec("CREATE TABLE docs (id INTEGER PRIMARY KEY, title TEXT, body TEXT)");
  if (hasIndex)
    db.exec(
      `CREATE VIRTUAL TABLE words USING
         fts5(title, body, content='docs', content_rowid='id', tokenize='porter unicode61');
       INSERT INTO words (words, rank) VALUES ('rank', 'bm25(4.0, 1.0)');`,
    );
  const insert = db.prepare("INSERT INTO docs VALUES (?, ?, ?)");
  const insertWords = hasIndex
    ? db.prepare("INSERT INTO words (rowid, title, body) VALUES (?, ?, ?)")
    : undefined;
  const add = db.transaction((documents) => {
    for (const { id, title, body } of documents) {
      insert.run(Number(id), title, body);
      insertWords?.run(Number(id), title, body);
    }
  });
  const select = hasIndex
    ? db.prepare(
        `SELECT docs.id, docs.title, docs.body FROM words JOIN docs ON docs.id = words.rowid
         WHERE words MATCH ? ORDER BY rank, docs.id LIMIT ?`,
      )
    : undefined;
  return {
    load: (documents) => add(documents),
    create: (document) => add([document]),
    finish: () => {
      if (hasIndex) db.exec("INSERT INTO words (words) VALUES ('optimize')");
      db.exec("VACUUM");
      db.pragma("wal_checkpoint(TRUNCATE)");
    },
    bytes: () => statSync(file).size,
    canAnswer: ({ typo }) => typo === undefined,
    search: (query, take) => select.all(matchOf(query), take).map(({ id }) => id),
    close: () => db.close(),
  };
}

function matchOf({ words, phrase, prefix }) {
  if (phrase !== undefined) return `"${phrase.join(" ")}"`;
  return prefix === undefined ? words.map((word) => `"${word}"`).join(" ") : `${prefix}*`;
}
