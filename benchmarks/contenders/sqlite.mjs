// The tables that the ORMs on better-sqlite3 share.
import { peer } from "./peer.mjs";

/**
 * Opens a file with a write-ahead log. With `"relaxed"` a commit survives a killed process only.
 */
export function openSqlite(path, durability) {
  const Sqlite = peer("better-sqlite3");
  const sqlite = new Sqlite(path);
  sqlite.pragma("journal_mode = WAL");
  sqlite.pragma(`synchronous = ${durability === "full" ? "FULL" : "NORMAL"}`);
  sqlite.pragma("foreign_keys = ON");
  sqlite.exec(`
    CREATE TABLE IF NOT EXISTS "User" (
      "id" TEXT PRIMARY KEY NOT NULL, "name" TEXT NOT NULL, "email" TEXT NOT NULL,
      "favoriteColor" TEXT NOT NULL, "age" INTEGER NOT NULL, "createdAt" INTEGER NOT NULL
    );
    CREATE UNIQUE INDEX IF NOT EXISTS "User_email_key" ON "User" ("email");
    CREATE INDEX IF NOT EXISTS "User_favoriteColor_idx" ON "User" ("favoriteColor");
    CREATE TABLE IF NOT EXISTS "Post" (
      "id" TEXT PRIMARY KEY NOT NULL, "authorId" TEXT NOT NULL REFERENCES "User" ("id"),
      "title" TEXT NOT NULL
    );
    CREATE INDEX IF NOT EXISTS "Post_authorId_idx" ON "Post" ("authorId");
    CREATE TABLE IF NOT EXISTS "Order" (
      "id" TEXT PRIMARY KEY NOT NULL, "customer" TEXT NOT NULL, "month" TEXT NOT NULL,
      "cents" INTEGER NOT NULL
    );
    CREATE INDEX IF NOT EXISTS "Order_totals_idx" ON "Order" ("customer", "month", "cents");
  `);
  return sqlite;
}

/** An index that holds what a list shows, as a list by the covering index of the others does. */
export function addCoveringIndex(sqlite) {
  sqlite.exec(
    'CREATE INDEX IF NOT EXISTS "User_covering" ON "User" ("favoriteColor", "id", "name", "email")',
  );
}
