import { maxReported } from "../derived/entries/fill/finish-index.js";
import { beginLayout } from "../derived/layout/begin-layout.js";
import { buildLayout, type LayoutObstacles } from "../derived/layout/build-layout.js";
import { removeLayout } from "../derived/layout/remove-layout.js";
import { switchKey } from "../derived/layout/switch-key.js";
import type { BuildOptions } from "../derived/maintenance.js";
import { ModelCatalog } from "../state/catalog/model-catalog.js";
import { isLeaving, withPrimaryKey } from "../state/catalog/other-layout.js";
import type { TableContext } from "../state/context/table-context.js";
import type { MigrationRun } from "../state/run/migration-run.js";
import { planModel } from "./plan/plan-migration.js";
import { readFacts } from "./plan/read-facts.js";
import {
  type DanglingReference,
  danglingReferencesAmong,
  referencesOf,
} from "./verify/dangling-references.js";

/** The rows that prevent a primary key from changing. */
export interface KeyObstacles extends LayoutObstacles {
  /** The first references by the new key that lead to no row. */
  readonly dangling: readonly DanglingReference[];
}

/**
 * Changes the primary keys of models while others read and write, if the database stores their rows
 * by other ones.
 *
 * 1. The catalog lists a second layout of the rows, by the new key. Every writer maintains it.
 * 2. Backfills build the rows and the index entries of this layout.
 * 3. References of other models by the new key are checked. `beforeSwitch` then keeps programs that
 *    do not know these references from writing, and they are checked again.
 * 4. One commit makes the second layout the one that is read.
 * 5. When no reader uses the previous layout any longer, it is removed.
 *
 * Each stage finds the remaining work in the catalog, so the next call resumes where a run was
 * stopped or killed. If a model has the stored key again, its second layout is removed instead.
 *
 * @param beforeSwitch is called with the models whose keys do not change. It returns false if the
 * signal stopped it.
 * @returns `"done"` also if there is nothing to do; `"stopped"` if the signal stopped it;
 * `"blocked"` if writers have done something that blocks the plan; otherwise the rows
 * that prevent the change of one of the models.
 */
export async function changeKeys(
  contexts: readonly TableContext[],
  run: MigrationRun,
  options: BuildOptions,
  beforeSwitch: (others: readonly TableContext[]) => Promise<boolean>,
): Promise<"done" | "stopped" | "blocked" | KeyObstacles> {
  for (;;) {
    const changing: { readonly context: TableContext; readonly stored: TableContext }[] = [];
    const others: TableContext[] = [];
    for (const context of contexts) {
      const stored = await buildByNewKey(context, run, options);
      if (stored === "stopped") return stored;
      if (stored === undefined) others.push(context);
      else if ("unkeyed" in stored) return { ...stored, dangling: [] };
      else changing.push({ context, stored });
    }
    if (changing.length === 0) return "done";
    for (const { context } of changing) if (await isBlocked(context)) return "blocked";
    for (const check of ["first", "again"]) {
      if (check === "again" && !(await beforeSwitch(others))) return "stopped";
      for (const { context, stored } of changing) {
        const dangling = await findDanglingByKey(context, stored, run);
        if (dangling === "stopped") return dangling;
        if (dangling.length > 0) return { indexes: [], unkeyed: [], unkeyedCount: 0, dangling };
      }
    }
    for (const { context, stored } of changing) {
      const isSwitched = await switchKey(context, stored, run);
      if (isSwitched && !(await removeLayout(context, run))) return "stopped";
    }
  }
}

async function isBlocked(context: TableContext): Promise<boolean> {
  const { steps } = planModel(await readFacts(context));
  return steps.some(({ blocked }) => blocked !== undefined);
}

/**
 * Builds the rows of a model by its new key.
 *
 * @returns the context with the stored key, or what prevents the change; undefined if the database
 * has the key already.
 */
async function buildByNewKey(
  context: TableContext,
  run: MigrationRun,
  options: BuildOptions,
): Promise<TableContext | LayoutObstacles | "stopped" | undefined> {
  const { catalog, model } = context;
  await catalog.reload();
  if (catalog.snapshot.hasSameKey) {
    return (await removeLayout(context, run)) ? undefined : "stopped";
  }
  const stored = await storedContext(context);
  if (isLeaving(stored.catalog.snapshot.entry) && !(await removeLayout(stored, run))) {
    return "stopped";
  }
  await beginLayout(stored, run, model);
  const obstacles = await buildLayout(stored, run, options);
  if (obstacles === "stopped") return obstacles;
  const isPrevented = obstacles.indexes.length > 0 || obstacles.unkeyedCount > 0;
  return isPrevented ? obstacles : stored;
}

/**
 * Finds references to a model, by the primary key that it is about to have, that lead to no row.
 *
 * @param context the context of the program, which has the new primary key.
 * @param stored the context with the primary key of the database. The other layout is complete.
 * @returns the first of them, at most about 100; `"stopped"` if the signal stopped it.
 */
async function findDanglingByKey(
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

/**
 * Returns the context of a program with the same model that has the primary key of the database. In
 * it, a run builds the rows by the key of the program, like any program that still writes.
 */
async function storedContext(context: TableContext): Promise<TableContext> {
  const { kv, catalog } = context;
  const model = withPrimaryKey(context.model, catalog.snapshot.storedKey);
  const { relations } = catalog.snapshot.entry;
  return { ...context, model, catalog: await ModelCatalog.open(kv, model, { relations }) };
}
