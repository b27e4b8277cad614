// The SQL ORM that is measured beside Keywright. It is installed in this folder, by install.mjs, and only where the
// benchmark runs: elsewhere nothing must import it, nor look for it, hence not `import`.
import { createRequire } from "node:module";

const peer = createRequire(import.meta.url);

/** Loads drizzle-orm and better-sqlite3; throws where they are absent, or built for another Node.js. */
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
