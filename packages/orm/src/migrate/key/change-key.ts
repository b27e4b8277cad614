import { isLeaving } from "../../catalog/other-layout.js";
import type { TableContext } from "../../context/table-context.js";
import type { MigrationRun } from "../run/migration-run.js";
import { beginLayout } from "./begin-layout.js";
import { type BuildOptions, buildLayout, type LayoutObstacles } from "./build-layout.js";
import { removeLayout } from "./remove-layout.js";
import { storedContext } from "./stored-context.js";
import { switchKey } from "./switch-key.js";

/**
 * Changes the primary key of a model beside readers and writers, if the database stores the rows by
 * another one.
 *
 * 1. The catalog lists a second layout of the rows, by the new key. Every writer maintains it.
 * 2. Backfills build the rows and the index entries of this layout.
 * 3. One commit makes it the layout that is read.
 * 4. When no reader uses the previous layout any longer, it is removed.
 *
 * Each stage finds the remaining work in the catalog, so the next call resumes where a run was
 * stopped or killed. If the model has the stored key again, the second layout is removed instead.
 *
 * @returns `"done"` also if there is nothing to do; `"stopped"` if the signal stopped it; otherwise
 * the rows that prevent the change.
 */
export async function changeKey(
  context: TableContext,
  run: MigrationRun,
  options: BuildOptions,
): Promise<"done" | "stopped" | LayoutObstacles> {
  const { catalog, model } = context;
  await catalog.reload();
  while (!catalog.snapshot.hasSameKey) {
    const stored = await storedContext(context);
    if (isLeaving(stored.catalog.snapshot.entry) && !(await removeLayout(stored, run))) {
      return "stopped";
    }
    await beginLayout(stored, run, model);
    const obstacles = await buildLayout(stored, run, options);
    if (obstacles === "stopped") return "stopped";
    if (obstacles.indexes.length > 0 || obstacles.unkeyedCount > 0) return obstacles;
    await switchKey(context, stored, run);
    await catalog.reload();
  }
  return (await removeLayout(context, run)) ? "done" : "stopped";
}
