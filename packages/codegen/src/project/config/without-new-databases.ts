/** `isCreationAllowed` reads this property, in all copies of @keywright/core in the process. */
const setting = Symbol.for("keywright.createIfMissing");

const settings = globalThis as { [setting]?: boolean | undefined };

/** How many calls are running. Some may never end, while others do. */
let running = 0;
let previous: boolean | undefined;

/**
 * Runs code of the user's project. While it runs, `openKv` and the functions that open engines
 * throw `DatabaseNotFoundError` instead of creating a database on disk or on a server. Databases in
 * memory can still be opened, and so can databases of other libraries, such as Deno KV.
 */
export async function withoutNewDatabases<T>(run: () => Promise<T>): Promise<T> {
  if (running++ === 0) previous = settings[setting];
  settings[setting] = false;
  try {
    return await run();
  } finally {
    if (--running === 0) settings[setting] = previous;
  }
}
