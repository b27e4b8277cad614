import { type AnyDatabase, findFailedRows, type MigrationPlan } from "@keywright/orm";
import { counted } from "../terminal/counted.js";

/** The maximum number of failed rows that are counted for a model. */
const maxCounted = 1000;

/** Returns what to do next about a plan: which rows block it, and how to run it. */
export async function nextLines(database: AnyDatabase, plan: MigrationPlan): Promise<string[]> {
  const { steps } = plan;
  const failed = await failedRows(database, plan);
  const duplicates = steps.flatMap(({ kind, model, index }) =>
    kind === "resolve-duplicates" ? `${model}.${index}` : [],
  );
  const failedLines = [...failed].map(
    ([model, rows]) =>
      `${model}  ${rows} could not be changed. Which, and why: npx keywright migrate status --failed ${model}`,
  );
  const duplicateLines = duplicates.map(
    (index) =>
      `${index} waits until rows are changed. Which: npx keywright migrate status --duplicates ${index}`,
  );
  // A run only checks the duplicates and the failed rows again, so it is not suggested for them
  // alone.
  const canRun = steps.some(
    ({ kind, model }) =>
      kind !== "resolve-duplicates" && !(kind === "transform-rows" && failed.has(model)),
  );
  const blocks = [
    ...(failed.size === 0
      ? []
      : [
          ...failedLines,
          "Correct the migration or the rows first, then: npx keywright migrate resume",
        ]),
    ...(duplicates.length === 0
      ? []
      : [
          ...duplicateLines,
          "Change or delete all but one row of each value: an index goes readable with the last of them.",
        ]),
    ...(canRun ? runLines(plan) : []),
  ];
  return blocks.length === 0 ? [] : ["", ...blocks];
}

function runLines({ steps, needsMigration, isBreaking }: MigrationPlan): string[] {
  if (needsMigration) {
    const isMissing = steps.some(({ blocked }) => blocked?.includes("Write a migration"));
    return [
      "Do first what the blocked steps say. Migrations are named in `migrations` of keywright.config.ts.",
      ...(isMissing ? ["To begin with the file of one: npx keywright migrate new <name>"] : []),
    ];
  }
  if (!isBreaking) return ["Run it: npx keywright migrate run"];
  return [
    "Run it: npx keywright migrate run, which asks first. Without a terminal, --accept takes the ids of breaking steps.",
  ];
}

/**
 * Counts the rows that changes under way could not change. Returns a text such as `2 rows` by
 * model, for the models that have such rows.
 */
async function failedRows(
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
