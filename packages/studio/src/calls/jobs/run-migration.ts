import { type AnyDatabase, migrate, migrationStatus } from "@keywright/orm";
import { planMigration } from "@keywright/orm/migrate";
import type { TriedModel } from "../../protocol/maintenance.js";
import type { StudioCalls } from "../../protocol/studio-calls.js";
import type { Source } from "../../source/source.js";
import { tryRows, type WorkOptions } from "./try-rows.js";

interface MigrationResult {
  readonly outcome: string;
  readonly tried: readonly TriedModel[];
}

/** Tries the rows that the plan changes, and runs it if none of them would fail. */
export async function runMigration(
  source: Source,
  database: AnyDatabase,
  { accept, dropModels, acceptFailures }: StudioCalls["migrate"]["input"],
  options: WorkOptions,
): Promise<MigrationResult> {
  const plan = await planMigration(database, { dropModels });
  const isAccepted = plan.steps.every(({ class: of, kind, id }) => {
    return of !== "breaking" || kind === "drop-model" || accept.includes(id);
  });
  let tried: readonly TriedModel[] = [];
  if (!acceptFailures && isAccepted && !plan.needsMigration) {
    const result = await tryModels(source, database, await newlyChanged(database, plan), options);
    if (result.outcome === "stopped") return result;
    ({ tried } = result);
    if (tried.some(({ failed }) => failed > 0)) return { outcome: "would-fail", tried };
  }
  const { status } = await migrate(database, { ...options, accept, dropModels });
  return { outcome: status, tried };
}

/** Tries the plan on all rows that it changes. */
export async function tryMigration(
  source: Source,
  database: AnyDatabase,
  options: WorkOptions,
): Promise<MigrationResult> {
  const { steps } = await planMigration(database);
  const models = new Set(steps.map(({ model }) => model));
  return await tryModels(source, database, models, options);
}

async function tryModels(
  source: Source,
  database: AnyDatabase,
  names: ReadonlySet<string>,
  options: WorkOptions,
): Promise<MigrationResult> {
  const tried: TriedModel[] = [];
  for (const { model } of source.models) {
    if (!names.has(model.name)) continue;
    const result = await tryRows(database, model, options);
    if (result === null) return { outcome: "stopped", tried };
    if (result.rows > 0) tried.push(result);
  }
  const isFailing = tried.some(({ failed }) => failed > 0);
  return { outcome: isFailing ? "would-fail" : "passed", tried };
}

/** Returns the models whose rows the plan starts to change, not those that are being changed. */
async function newlyChanged(
  database: AnyDatabase,
  { steps }: Awaited<ReturnType<typeof planMigration>>,
): Promise<ReadonlySet<string>> {
  const { models } = await migrationStatus(database);
  const running = models.flatMap(({ model, transform }) => (transform === null ? [] : model));
  const changed = steps.flatMap(({ kind, model }) => (kind === "transform-rows" ? model : []));
  return new Set(changed.filter((model) => !running.includes(model)));
}
