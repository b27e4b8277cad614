import type { AnyDatabase } from "@keywright/orm";
import { findFailedRows, type MigrationPlan } from "@keywright/orm/migrate";
import { counted } from "../terminal/text/counted.js";
import { commandLine } from "../terminal/text/wrap.js";

export const resolveDuplicates =
  "Change or delete all but one row of each value. The index becomes readable when no value is shared.";

export const resumeAfterCorrection: string = `Correct the migration or the rows, then:\n${commandLine("migrate resume")}`;

export const unblockFirst =
  "First do what the blocked steps say. Migrations are listed in `migrations` of keywright.config.ts.";

const maxCounted = 1000;

/**
 * Returns what to do next about a plan: which rows block it, and how to run it.
 *
 * @param failed the result of {@link failedRows}.
 */
export function nextLines(plan: MigrationPlan, failed: ReadonlyMap<string, string>): string[] {
  const { steps } = plan;
  const duplicates = steps.flatMap(({ kind, model, index }) =>
    kind === "resolve-duplicates" ? `${model}.${index}` : [],
  );
  const failedLines = [...failed].map(
    ([model, rows]) =>
      `${model}  ${rows} could not be changed. To list them:\n${commandLine(`migrate status --failed ${model}`)}`,
  );
  const duplicateLines = duplicates.map(
    (index) =>
      `${index} is not readable, because rows share values. To list them:\n${commandLine(`migrate status --duplicates ${index}`)}`,
  );
  // A run only checks the duplicates and the failed rows again, so it is not suggested for them
  // alone.
  const canRun = steps.some(
    ({ kind, model }) =>
      kind !== "resolve-duplicates" && !(kind === "transform-rows" && failed.has(model)),
  );
  const blocks = [
    ...(failed.size === 0 ? [] : [...failedLines, resumeAfterCorrection]),
    ...(duplicates.length === 0 ? [] : [...duplicateLines, resolveDuplicates]),
    ...(canRun ? runLines(plan) : []),
  ];
  return blocks.length === 0 ? [] : ["", ...blocks];
}

function runLines({ steps, needsMigration, isBreaking }: MigrationPlan): string[] {
  if (needsMigration) {
    const isMissing = steps.some(({ blocked }) => blocked?.includes("Write a migration"));
    return [
      unblockFirst,
      ...(isMissing ? [`To write a migration file:\n${commandLine("migrate new <name>")}`] : []),
    ];
  }
  const run = `To run the plan:\n${commandLine("migrate run")}`;
  const asking =
    "It asks before it runs breaking steps. Without a terminal, use --accept with their ids.";
  return isBreaking ? [run, asking] : [run];
}

/** Returns a text such as `2 rows` for each model with rows that could not be changed. */
export async function failedRows(
  database: AnyDatabase,
  { steps }: MigrationPlan,
): Promise<ReadonlyMap<string, string>> {
  const failed = new Map<string, string>();
  for (const { kind, model } of steps) {
    if (kind !== "transform-rows") continue;
    const { items, cursor } = await findFailedRows(database, { model, take: maxCounted });
    const prefix = cursor === null ? "" : "at least ";
    if (items.length > 0) failed.set(model, `${prefix}${counted(items.length, "row")}`);
  }
  return failed;
}
