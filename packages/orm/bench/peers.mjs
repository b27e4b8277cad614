// The SQL ORM that Keywright is compared with. install.mjs installs it in this folder only for the
// benchmark, so other tools must not find an `import` of it.
import { createRequire } from "node:module";

const peer = createRequire(import.meta.url);

/** Loads drizzle-orm and better-sqlite3. Throws if they are absent or built for another Node.js. */
export function loadPeers() {
  const Sqlite = peer("better-sqlite3");
  // The module alone says nothing about its native part, which is loaded with the first database.
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
