import { driverOfRuntime } from "../src/driver/driver-of-runtime.js";
import type { SqliteConnection, SqliteValue } from "../src/index.js";

/** Opens a file behind the engine's back. */
export async function openRaw(path: string): Promise<SqliteConnection> {
  return (await driverOfRuntime()).open(path, { readOnly: false });
}

/** Runs a statement on a file behind the engine's back. Returns the columns of its rows. */
export async function raw(
  path: string,
  sql: string,
  ...parameters: SqliteValue[]
): Promise<readonly (readonly SqliteValue[])[]> {
  const connection = await openRaw(path);
  try {
    const statement = connection.prepare(sql);
    if (/^(select|pragma [^=]*$)/i.test(sql)) return statement.all(...parameters);
    statement.run(...parameters);
    return [];
  } finally {
    connection.close();
  }
}
