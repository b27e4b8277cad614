import {
  encodeKey,
  type FileDamage,
  type KvLike,
  type RescueReport,
  rescueDatabase,
} from "@keywright/core";
import type { CompiledModel } from "@keywright/orm/codegen";
import { type VerifiedModel, verifyIndexes } from "@keywright/orm/migrate";
import { migrationProgress } from "../../progress/migration-progress.js";
import { loadProject, openModels, type Project } from "../../project/open-project.js";
import type { Terminal } from "../terminal/terminal.js";
import { type ReportedDamage, reportedDamage } from "../verify/verify-files.js";
import { type VerifyReport, verifyReferences } from "../verify/verify-references.js";
import { fileProgress } from "./file-progress.js";

/** What is known about the rows of a model after a rescue. */
export interface RescuedModel {
  readonly model: string;
  readonly rows: number;
  /** The number of rows at least to which index entries led, and that were not there. */
  readonly missingRows: number;
  /** True if a damaged place may have held rows of the model. */
  readonly mayLackRows: boolean;
}

export interface RescueResult extends Omit<RescueReport, "damages"> {
  /** `"damaged"` if rows have to be corrected. */
  readonly status: "complete" | "partial" | "damaged";
  readonly damages: readonly ReportedDamage[];
  /** Undefined if there is no configuration with models. */
  readonly models: readonly RescuedModel[] | undefined;
  readonly indexes: VerifyReport | undefined;
}

interface Folders {
  readonly path: string;
  readonly to: string;
}

/** Rescues a database, and repairs the indexes and counters of a project's models in it. */
export async function rescue(
  terminal: Terminal,
  config: string | undefined,
  { path, to }: Folders,
): Promise<RescueResult> {
  const project = await projectIfPresent(terminal.folder, config);
  const progress = fileProgress(terminal.stderr, "rescue");
  let rows: Map<string, number> | undefined;
  let indexes: VerifyReport | undefined;
  const report = await rescueDatabase(path, {
    to,
    onProgress: progress.onProgress,
    complete: async (kv) => {
      progress.stop();
      if (project === undefined) return;
      indexes = await repairModels(terminal, project, kv);
      rows = await countRows(kv, project);
    },
  }).finally(progress.stop);
  const models = project?.models.map(({ model }) =>
    rescuedModel(model, rows!.get(model.name)!, report.damages, indexes!),
  );
  const lost = report.damages.length > 0 ? "partial" : "complete";
  const status = indexes?.status === "damaged" ? "damaged" : lost;
  return { status, ...report, damages: report.damages.map(reportedDamage), models, indexes };
}

/** Returns undefined if there is no configuration. Then there are no models either. */
async function projectIfPresent(
  folder: string,
  config: string | undefined,
): Promise<Project | undefined> {
  try {
    return await loadProject(folder, config);
  } catch (error) {
    const isMissing = (error as { code?: unknown }).code === "KW_CONFIG_MISSING";
    if (config === undefined && isMissing) return undefined;
    throw error;
  }
}

async function repairModels(
  terminal: Terminal,
  project: Project,
  kv: KvLike,
): Promise<VerifyReport> {
  const database = await openModels(project, kv);
  const { onProgress, stop } = migrationProgress({ stream: terminal.stderr });
  try {
    const result = await verifyIndexes(database, { repair: true, recount: true, onProgress });
    const models = project.models.map(({ model }) => model);
    const { signal } = new AbortController();
    const options = { rowsPerSecond: undefined, signal, onProgress };
    return await verifyReferences(database, models, result, options);
  } finally {
    stop();
  }
}

async function countRows(kv: KvLike, { models }: Project): Promise<Map<string, number>> {
  const rows = new Map<string, number>();
  for (const { model } of models) {
    let count = 0;
    for await (const _ of kv.list({ prefix: [model.prefix] })) count++;
    rows.set(model.name, count);
  }
  return rows;
}

function rescuedModel(
  { name, prefix }: CompiledModel,
  rows: number,
  damages: readonly FileDamage[],
  { models }: VerifyReport,
): RescuedModel {
  const verified = models.find(({ model }) => model === name);
  const mayLackRows = damages.some((damage) => overlaps(damage, prefix));
  return { model: name, rows, missingRows: missingRows(verified), mayLackRows };
}

/** Counts the rows of the dangling entries that are listed. */
function missingRows({ findings = [] }: Partial<VerifiedModel> = {}): number {
  const dangling = findings.filter(({ kind, primaryKey }) => kind === "dangling" && primaryKey);
  return new Set(dangling.map(({ primaryKey }) => JSON.stringify(primaryKey, textOfBigint))).size;
}

function textOfBigint(_key: string, value: unknown): unknown {
  return typeof value === "bigint" ? `${value}n` : value;
}

/** True if a damaged range of keys contains a key with this first part. */
function overlaps({ firstKey, lastKey }: FileDamage, prefix: string): boolean {
  const start = encodeKey([prefix]);
  const isBefore = lastKey !== undefined && Buffer.compare(lastKey, start) < 0;
  const isAfter =
    firstKey !== undefined &&
    Buffer.compare(firstKey, start) > 0 &&
    Buffer.compare(firstKey.subarray(0, start.length), start) > 0;
  return !isBefore && !isAfter;
}
