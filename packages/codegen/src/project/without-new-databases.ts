/** Read by each `openKv` of the process, whichever copy of @keywright/core it is of. */
const setting = Symbol.for("keywright.createIfMissing");

const settings = globalThis as { [setting]?: boolean | undefined };

/**
 * Runs something of the user's in which `openKv` makes no database where there is none, but throws `DatabaseNotFoundError`.
 * Databases in memory are opened all the same, and so are those of others, such as Deno KV.
 */
export async function withoutNewDatabases<T>(run: () => Promise<T>): Promise<T> {
  const before = settings[setting];
  settings[setting] = false;
  try {
    return await run();
  } finally {
    settings[setting] = before;
  }
}
