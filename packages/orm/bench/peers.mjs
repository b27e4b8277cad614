// The SQL ORM that Keywright is compared with. install.mjs installs it in this folder before the
// benchmark. `require` hides it from tools that check imports where it is not installed.
import { createRequire } from "node:module";

const peer = createRequire(import.meta.url);

/**
 * Loads drizzle-orm and better-sqlite3.
 *
 * @throws if they are not installed, or built for another version of Node.js.
 */
export function loadPeers() {
  const Sqlite = peer("better-sqlite3");
  // The native part of the module is loaded with the first database.
  new Sqlite(":memory:").close();
  return {
    Sqlite,
    drizzle: peer("drizzle-orm/better-sqlite3").drizzle,
    ...pick(peer("drizzle-orm"), ["eq", "sql"]),
    ...pick(peer("drizzle-orm/sqlite-core"), [
      "index",
      "integer",
      "sqliteTable",
      "text",
      "uniqueIndex",
    ]),
  };
}

function pick(module, names) {
  return Object.fromEntries(names.map((name) => [name, module[name]]));
}
