import { migrationProgress } from "@keywright/codegen/progress";
import type { Kv } from "@keywright/core";
import { migrate } from "@keywright/orm";
import { openRepositories } from "./generated/index.js";
import { heading, perSecond, table, timed } from "./report.js";

/**
 * Builds the index that the model declares and the database does not have yet, and prints what it is for.
 *
 * @returns whether it came to the end before the signal.
 */
export async function indexByPopulation(kv: Kv, signal: AbortSignal): Promise<boolean> {
  const { database, cities } = await openRepositories(kv);
  const progress = migrationProgress();
  let rows: number | undefined;
  const run = await timed(() =>
    migrate(database, {
      signal,
      onProgress: (report) => {
        if (rows === undefined) heading("Building the index byPopulation");
        rows = report.rowsDone;
        progress.onProgress(report);
      },
    }),
  ).finally(progress.stop);
  if (run.result.status === "stopped") return false;
  if (rows === undefined) heading("The index byPopulation is there already");
  else console.log(perSecond("rows indexed", rows, run.milliseconds));

  const largest = await timed(() => cities.listByPopulation({}, { order: "desc", take: 10 }));
  heading('cities.listByPopulation({}, { order: "desc", take: 10 })', largest.milliseconds);
  table(largest.result.items);
  return true;
}
