import pg from "pg";
import { describe, inject } from "vitest";
import type { PostgresOptions } from "../../src/index.js";

let prefixes = 0;

/** Returns a table name that no other test uses. */
function newPrefix(): string {
  return `kw_${process.pid}_${Math.random().toString(36).slice(2, 8)}_${prefixes++}`;
}

/** Options for a new table on the server that the tests share. */
export function newTable(): PostgresOptions & { readonly prefix: string } {
  return { connectionString: inject("postgresUrl")!, prefix: newPrefix() };
}

/** `describe`, which skips its tests if no server is installed. */
export const describeOnServer: typeof describe.skip =
  inject("postgresUrl") === undefined ? describe.skip : describe;

/** Returns the rows of a query on the server that the tests share. */
export async function query(text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: inject("postgresUrl")! });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
