import { type StoredIndex, storedIndexOf } from "../state/catalog/catalog-entry.js";
import { withCode } from "../state/catalog/stored-indexes.js";
import { type AnyDatabase, tableContexts } from "../state/context/any-database.js";
import type { TableContext } from "../state/context/table-context.js";
import { differsInCode, indexManifest } from "../state/schema/manifests/index-manifest.js";
import { again, retry } from "../state/transaction/retry.js";

/** How many forms of functions are remembered for an index. */
const maxForms = 10;

/**
 * Records that the functions of indexes return the same as those with which the database has built
 * them, although their code differs, for example because programs are built in different ways.
 * Their entries stay, and programs with either code can read and write. Indexes that differ in
 * anything else are left alone. The code of functions of which an earlier release has stored only a
 * hash is recorded too.
 *
 * ```ts
 * await recordSameFunctions(db, ["users.byEmail"]);
 * ```
 *
 * @param indexes the model and the name of each index, or true for all indexes that differ only in
 * the code of their functions.
 * @returns the model and the name of each index that was recorded.
 */
export async function recordSameFunctions(
  database: AnyDatabase,
  indexes: readonly string[] | true,
): Promise<string[]> {
  const recorded: string[] = [];
  for (const context of tableContexts(database).values()) {
    const isNamed = (name: string) =>
      indexes === true || indexes.includes(`${context.model.name}.${name}`);
    const names = await recordInModel(context, isNamed);
    recorded.push(...names.map((name) => `${context.model.name}.${name}`));
  }
  return recorded;
}

async function recordInModel(
  { kv, model, catalog }: TableContext,
  isNamed: (name: string) => boolean,
): Promise<string[]> {
  return await retry(async () => {
    await catalog.reload();
    const { check, entry: stored } = catalog.snapshot;
    const entry = withCode(model, stored);
    const changed = model.indexes.flatMap((index): [string, StoredIndex][] => {
      const before = storedIndexOf(entry, index.name);
      if (before === undefined || !isNamed(index.name)) return [];
      const now = indexManifest(index);
      if (!differsInCode(before, now)) return [];
      const { functions, code } = now;
      const form = { ...(functions !== undefined && { functions }), ...(code && { code }) };
      const forms = [...(before.sameFunctions ?? []), form].slice(-maxForms);
      return [[index.name, { ...before, sameFunctions: forms }]];
    });
    if (changed.length === 0 && entry === stored) return [];
    const next = { ...entry, indexes: { ...entry.indexes, ...Object.fromEntries(changed) } };
    const { ok } = await kv.atomic().check(check).set(check.key, next).commit();
    await catalog.reload();
    return ok ? changed.map(([name]) => name) : again;
  });
}
