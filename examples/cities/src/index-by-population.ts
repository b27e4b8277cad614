import { migrationProgress } from "@keywright/codegen/progress";
import type { Kv } from "@keywright/core";
import { migrate } from "@keywright/orm";
import { openRepositories } from "./generated/index.js";
import { measureTime, printHeading, printTable } from "./report.js";

/**
 * Builds the index that the model declares and the database does not have yet, and prints what it
 * finds.
 *
 * @returns false if the signal stopped it before the end.
 */
export async function indexByPopulation(kv: Kv, signal: AbortSignal): Promise<boolean> {
  const { database, cities } = await openRepositories(kv);
  const progress = migrationProgress();
  let rows: number | undefined;
  const run = await measureTime(() =>
    migrate(database, {
      signal,
      onProgress: (report) => {
        if (rows === undefined)
          printHeading("The model has a new index, byPopulation. Building it");
        rows = report.done;
        progress.onProgress(report);
      },
    }),
  ).finally(progress.stop);
  if (run.result.status === "stopped") return false;
  if (rows === undefined) printHeading("The index byPopulation is already built");
  else {
    const seconds = (run.milliseconds / 1000).toFixed(1);
    // No rate: earlier runs that were stopped may have done a part of the work.
    console.log(
      `${rows.toLocaleString("en")} rows indexed and verified (${seconds} s in this run)`,
    );
  }

  const largest = await measureTime(() => cities.listByPopulation({}, { order: "desc", take: 10 }));
  printHeading('cities.listByPopulation({}, { order: "desc", take: 10 })', largest.milliseconds);
  printTable(largest.result.items);
  return true;
}
