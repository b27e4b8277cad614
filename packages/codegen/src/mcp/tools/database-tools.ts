import type { AnyDatabase } from "@keywright/orm";
import {
  type DanglingReference,
  findDanglingReferences,
  planMigration,
  verifyIndexes,
} from "@keywright/orm/migrate";
import * as z from "zod";
import { findModel } from "./find-model.js";
import { defineTool, type Tool } from "./tool.js";

/** The maximum number of dangling references that are returned for each model. */
const maxDangling = 20;

/** The tools that check the database as a whole. They correct nothing. */
export const databaseTools: readonly Tool[] = [
  defineTool({
    name: "verify",
    title: "Verify indexes and references",
    description:
      'Compares rows with their index entries, counters, copied fields and references: { status, models: [{ model, rows, entries, findings, counts, … }], danglingReferences }. status is "clean", "damaged", or "busy" if a migration runs now. Reads every row and entry, so name models in a large database. Corrects nothing: `npx keywright verify --repair` does.',
    input: z.strictObject({
      models: z.array(z.string()).optional().describe("Only these models. All if absent."),
    }),
    effect: "none",
    rest: "Verify one model after another.",
    run: async (open, input, signal) => {
      const models = (input.models ?? open.models.map(({ property }) => property)).map(
        (name) => findModel(open, name).model,
      );
      const names = models.map(({ name }) => name);
      const result = await verifyIndexes(open.database, { models: names, wait: false, signal });
      // A verification that is stopped has no result.
      signal.throwIfAborted();
      const dangling = [];
      for (const { name, relations } of models) {
        const hasReferences = Object.values(relations).some(({ kind }) => kind === "belongsTo");
        if (hasReferences) dangling.push(...(await danglingOf(open.database, name, signal)));
      }
      return { ...result, danglingReferences: dangling };
    },
  }),
  defineTool({
    name: "migration_plan",
    title: "Plan of the migration",
    description:
      "Returns what `npx keywright migrate run` would do so that the database matches the models: { steps: [{ model, kind, class, reason, … }], isEmpty, isBreaking, needsMigration, warnings, … }. class is safe, backfill, rebuild, data or breaking. Runs nothing.",
    input: z.strictObject({}),
    effect: "none",
    rest: "Run `npx keywright migrate plan`.",
    run: async ({ database }) => {
      // `models` has the same steps again, by model.
      const { models: _, ...plan } = await planMigration(database);
      return plan;
    },
  }),
];

async function danglingOf(
  database: AnyDatabase,
  model: string,
  signal: AbortSignal,
): Promise<readonly DanglingReference[]> {
  const found: DanglingReference[] = [];
  let cursor: string | null = null;
  do {
    signal.throwIfAborted();
    const page = await findDanglingReferences(database, { model, cursor });
    found.push(...page.items);
    ({ cursor } = page);
  } while (cursor !== null && found.length < maxDangling);
  return found.slice(0, maxDangling);
}
