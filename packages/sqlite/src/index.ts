export { betterSqlite3Driver } from "./driver/better-sqlite3.js";
export type {
  SqliteConnection,
  SqliteDriver,
  SqliteStatement,
  SqliteValue,
} from "./driver/sqlite-driver.js";
export type { SqliteOptions } from "./open/sqlite-options.js";
export { sqliteEngine } from "./sqlite-engine.js";
