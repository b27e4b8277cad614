import type { AnyDatabase } from "@keywright/orm";
import {
  type MigrationPlan,
  type PreviewedDuplicates,
  previewDuplicates,
} from "@keywright/orm/migrate";
import type { Terminal } from "../terminal/terminal.js";
import { counted } from "../terminal/text/counted.js";
import { keyCount } from "../terminal/text/key-count.js";
import { shownId } from "../terminal/text/shown-value.js";

/** Finds the rows that share values of unique indexes that a plan builds. Writes nothing. */
export async function sharedValues(
  terminal: Terminal,
  database: AnyDatabase,
  { steps }: MigrationPlan,
): Promise<readonly PreviewedDuplicates[]> {
  const found: PreviewedDuplicates[] = [];
  for (const { kind, model, index } of steps) {
    if (index === undefined || (kind !== "build-index" && kind !== "rebuild-index")) continue;
    const { update, stop } = keyCount(terminal, `${model}.${index}  rows compared`, false);
    const query = { model, index };
    const shared = await previewDuplicates(database, query, { onRows: update }).finally(stop);
    if (shared.duplicateCount > 0) found.push(shared);
  }
  return found;
}

/** Names the first of these rows. Their values are not shown. */
export function sharedValueLines(found: readonly PreviewedDuplicates[]): string[] {
  if (found.length === 0) return [];
  const lines = found.flatMap(({ model, index, duplicateCount, examples }) => [
    `${model}  ${index} is unique, but ${counted(duplicateCount, "row has", "rows have")} a value that another row has, for example:`,
    ...examples.map((ids) => `  rows ${ids.map(shownId).join(", ")}`),
  ]);
  const advice =
    "Change or delete all but one row of each value first. Otherwise the index is built, but no query can use it until then.";
  return ["", ...lines, advice];
}
