// The same users in SQLite, through drizzle-orm and better-sqlite3. Its calls are synchronous, so
// nothing is awaited.
import { monotonicUlid } from "@keywright/core";
import { loadPeers } from "./peers.mjs";
import { usersPerColor } from "./rows.mjs";

/**
 * Opens a database of users, with a write-ahead log that is not synced at each commit: `synchronous
 * = NORMAL`, which is as durable as `durability: "relaxed"`.
 *
 * @param statements `"built"` for each call, or `"prepared"` once.
 */
export function openDrizzle(path, statements) {
  const peers = loadPeers();
  const sqlite = new peers.Sqlite(path);
  sqlite.pragma("journal_mode = WAL");
  sqlite.pragma("synchronous = NORMAL");
  sqlite.exec(`
    CREATE TABLE users (
      id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, email TEXT NOT NULL, favorite_color TEXT NOT NULL,
      age INTEGER NOT NULL, created_at INTEGER NOT NULL
    );
    CREATE UNIQUE INDEX users_by_email ON users (email);
    CREATE INDEX users_by_favorite_color ON users (favorite_color);
  `);
  const db = peers.drizzle(sqlite);
  const table = usersTable(peers);
  return {
    ...(statements === "built" ? built(db, table, peers) : prepared(db, table, peers)),
    load: (users) => {
      const insert = sqlite.transaction((batch) => db.insert(table).values(batch).run());
      for (let from = 0; from < users.length; from += 1000) insert(users.slice(from, from + 1000));
    },
    close: () => sqlite.close(),
  };
}

function usersTable({ index, integer, sqliteTable, text, uniqueIndex }) {
  return sqliteTable(
    "users",
    {
      id: text().primaryKey().$defaultFn(monotonicUlid),
      name: text().notNull(),
      email: text().notNull(),
      favoriteColor: text("favorite_color").notNull(),
      age: integer().notNull(),
      createdAt: integer("created_at", { mode: "timestamp_ms" }).notNull(),
    },
    (table) => [
      uniqueIndex("users_by_email").on(table.email),
      index("users_by_favorite_color").on(table.favoriteColor),
    ],
  );
}

function built(db, table, { eq }) {
  return {
    create: (data) => db.insert(table).values(data).run(),
    findById: (id) => db.select().from(table).where(eq(table.id, id)).get(),
    findByEmail: (email) => db.select().from(table).where(eq(table.email, email)).get(),
    findByColor: (color) =>
      db.select().from(table).where(eq(table.favoriteColor, color)).limit(usersPerColor).all(),
    changeColor: (id, favoriteColor) =>
      db.update(table).set({ favoriteColor }).where(eq(table.id, id)).run(),
  };
}

function prepared(db, table, { eq, sql }) {
  const p = sql.placeholder;
  const values = Object.fromEntries(
    ["id", "name", "email", "favoriteColor", "age", "createdAt"].map((field) => [field, p(field)]),
  );
  const create = db.insert(table).values(values).prepare();
  const findById = db
    .select()
    .from(table)
    .where(eq(table.id, p("id")))
    .prepare();
  const findByEmail = db
    .select()
    .from(table)
    .where(eq(table.email, p("email")))
    .prepare();
  const findByColor = db
    .select()
    .from(table)
    .where(eq(table.favoriteColor, p("color")))
    .limit(usersPerColor)
    .prepare();
  const changeColor = db
    .update(table)
    .set({ favoriteColor: p("favoriteColor") })
    .where(eq(table.id, p("id")))
    .prepare();
  return {
    create: (data) => create.run({ id: monotonicUlid(), ...data }),
    findById: (id) => findById.get({ id }),
    findByEmail: (email) => findByEmail.get({ email }),
    findByColor: (color) => findByColor.all({ color }),
    changeColor: (id, favoriteColor) => changeColor.run({ id, favoriteColor }),
  };
}
