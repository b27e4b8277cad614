import type { Buffer } from "node:buffer";
import { DatabaseFormatError, DatabaseNotFoundError } from "@keywright/core";
import type pg from "pg";
import type { EngineSettings } from "../settings/engine-settings.js";
import { commitSignature, createCommitFunction } from "./commit-function.js";
import { commitFunction, createTable } from "./schema.js";
import { headKey, tableFormat } from "./stored-keys.js";

const columns = "expires_at:bigint key:bytea value:bytea version:bytea";

/**
 * Creates the table and the function of an engine if they do not exist. Several processes may call
 * it at the same time, because it holds a lock of the database while it creates them.
 *
 * @throws {DatabaseNotFoundError} if the table does not exist and may not be created.
 * @throws {DatabaseFormatError} if there is a table of this name with another content.
 */
export async function prepareTable(
  client: pg.Client,
  { prefix, createIfMissing }: Pick<EngineSettings, "prefix" | "createIfMissing">,
): Promise<void> {
  const state = await stateOf(client, prefix);
  if (state === "ready") return;
  if (state === "missing" && !createIfMissing)
    throw new DatabaseNotFoundError(undefined, `table ${prefix} in the PostgreSQL database`);
  await client.query("BEGIN");
  try {
    await client.query("SELECT pg_advisory_xact_lock(hashtext($1))", [prefix]);
    if ((await stateOf(client, prefix)) !== "ready") {
      await client.query(createTable(prefix));
      await client.query(
        `INSERT INTO ${prefix} (key, value, version) VALUES ($1, $2, $3) ON CONFLICT (key) DO NOTHING`,
        [headKey, tableFormat, "\\x00000000000000000000"],
      );
      await client.query(createCommitFunction(prefix));
    }
    await client.query("COMMIT");
  } catch (error) {
    await client.query("ROLLBACK").catch(() => undefined);
    throw error;
  }
}

/** Tells if the table exists, and also the function. */
async function stateOf(
  client: pg.Client,
  prefix: string,
): Promise<"missing" | "without-function" | "ready"> {
  const { rows } = await client.query(
    `SELECT to_regprocedure($2) IS NOT NULL AS has_function,
       (SELECT string_agg(attname || ':' || format_type(atttypid, NULL), ' ' ORDER BY attname)
        FROM pg_attribute
        WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped) AS columns`,
    [prefix, `${commitFunction(prefix)}(${commitSignature})`],
  );
  const [{ has_function: hasFunction, columns: found }] = rows;
  if (found === null) return "missing";
  if (found !== columns)
    throw new DatabaseFormatError(`the table ${prefix} has other columns than Keywright's`);
  const head = await client.query(`SELECT value FROM ${prefix} WHERE key = $1`, [headKey]);
  const format = head.rows[0]?.value as Buffer | undefined;
  if (format === undefined || !format.equals(tableFormat)) {
    const reason = format === undefined ? "is not one of Keywright's" : "has an unknown format";
    throw new DatabaseFormatError(`the table ${prefix} ${reason}`);
  }
  return hasFunction ? "ready" : "without-function";
}
