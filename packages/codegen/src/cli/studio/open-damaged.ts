import { type CorruptionError, type EmbeddedKv, isKeywrightError, openKv } from "@keywright/core";

/** A database whose files are damaged, opened to show what can still be read. */
export interface DamagedDatabase {
  readonly kv: EmbeddedKv;
  readonly damage: CorruptionError;
}

/**
 * Opens a database that did not open because its files are damaged.
 *
 * @param error the error of opening it. It is thrown if it has another reason, or if the database
 * cannot be opened at all.
 */
export async function openDamaged(error: unknown): Promise<DamagedDatabase> {
  if (!isKeywrightError(error) || error.code !== "KW_CORRUPTION") throw error;
  const damage = error as CorruptionError;
  const { path } = damage;
  if (path === undefined) throw error;
  const options = { checkFiles: false, readOnly: true } as const;
  const kv = await openKv(path, options)
    .catch(() => openKv(path, { ...options, compat: "deno" }))
    .catch(() => {
      throw error;
    });
  return { kv, damage };
}
