import { ProgressMeter } from "@keywright/core";
import type { AnyDatabase, MigrationProgress } from "@keywright/orm";
import type { CompiledModel } from "@keywright/orm/codegen";
import {
  type DanglingReference,
  findDanglingReferences,
  type VerifiedModel,
  type VerifyResult,
} from "@keywright/orm/migrate";
import { createPacer } from "../terminal/process/pacer.js";

interface VerifiedReferences {
  /** The `belongsTo` relations that were verified. */
  readonly relations: readonly string[];
  readonly rows: number;
  readonly danglingCount: number;
  readonly dangling: readonly DanglingReference[];
}

/** `references` is absent if the model has none, or if they were not verified. */
export interface ReportedModel extends VerifiedModel {
  readonly references?: VerifiedReferences;
}

export interface VerifyReport extends VerifyResult {
  readonly models: readonly ReportedModel[];
}

interface ReferenceOptions {
  readonly rowsPerSecond: number | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: MigrationProgress) => void;
}

/** The maximum number of rows that are read before the signal is checked. */
const maxPageRows = 1000;
const maxKept = 100;

/** Adds the dangling references to a complete verification of indexes. */
export async function verifyReferences(
  database: AnyDatabase,
  models: readonly CompiledModel[],
  result: VerifyResult,
  options: ReferenceOptions,
): Promise<VerifyReport> {
  if (result.status === "stopped" || result.status === "busy") return result;
  const reported: ReportedModel[] = [...result.models];
  let { status } = result;
  for (const [position, verified] of result.models.entries()) {
    const model = models.find(({ name }) => name === verified.model);
    const relations = Object.entries(model?.relations ?? {}).flatMap(([name, { kind }]) =>
      kind === "belongsTo" ? [name] : [],
    );
    if (relations.length === 0) continue;
    const references = await modelReferences(database, verified, relations, options);
    if (references === "stopped") return { status: "stopped", models: reported };
    reported[position] = { ...verified, references };
    if (references.danglingCount > 0) status = "damaged";
  }
  return { status, models: reported };
}

async function modelReferences(
  database: AnyDatabase,
  { model, rows: rowsTotal }: VerifiedModel,
  relations: readonly string[],
  { rowsPerSecond, signal, onProgress }: ReferenceOptions,
): Promise<VerifiedReferences | "stopped"> {
  const { pageRows, wait } = createPacer(maxPageRows, rowsPerSecond);
  const dangling: DanglingReference[] = [];
  // Shown in place of the names of indexes.
  const meter = new ProgressMeter(onProgress, { model, indexes: ["references"] });
  meter.begin("verifying");
  let rows = 0;
  let danglingCount = 0;
  let cursor: string | null = null;
  do {
    if (signal.aborted) return "stopped";
    const page = await findDanglingReferences(database, { model, cursor, rows: pageRows });
    ({ cursor } = page);
    rows += page.rows;
    danglingCount += page.items.length;
    dangling.push(...page.items.slice(0, maxKept - dangling.length));
    if (cursor !== null) await wait(rows, signal);
    // The rows of a model without a verified index were not counted.
    meter.advance(rows, rowsTotal > 0 ? rowsTotal : undefined);
  } while (cursor !== null);
  return { relations, rows, danglingCount, dangling };
}
