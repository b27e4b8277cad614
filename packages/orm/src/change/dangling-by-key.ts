import { maxReported } from "../derived/entries/fill/finish-index.js";
import type { TableContext } from "../state/context/table-context.js";
import type { MigrationRun } from "../state/run/migration-run.js";
import {
  type DanglingReference,
  danglingReferencesAmong,
  referencesOf,
} from "./verify/dangling-references.js";

/**
 * Finds references to a model, by the primary key that it is about to have, that lead to no row.
 *
 * @param context the context of the program, which has the new primary key.
 * @param stored the context with the primary key of the database. The other layout is complete.
 * @returns the first of them, at most about 100; `"stopped"` if the signal stopped it.
 */
export async function findDanglingByKey(
  context: TableContext,
  stored: TableContext,
  run: MigrationRun,
): Promise<readonly DanglingReference[] | "stopped"> {
  const { other } = stored.catalog.snapshot;
  if (other === undefined) return [];
  const target = { ...stored, model: other.model };
  const found: DanglingReference[] = [];
  for (const table of context.tables.values()) {
    const references = referencesOf(table)
      .filter((reference) => reference.target === context)
      .map((reference) => ({ ...reference, target }));
    if (references.length === 0) continue;
    let cursor: string | null = null;
    do {
      if (run.signal?.aborted) return "stopped";
      const take = maxReported - found.length;
      const page = await danglingReferencesAmong(table, references, { take, cursor });
      found.push(...page.items);
      cursor = page.cursor;
      await run.afterBatch(page.rows);
    } while (cursor !== null && found.length < maxReported);
    if (found.length >= maxReported) break;
  }
  return found;
}
