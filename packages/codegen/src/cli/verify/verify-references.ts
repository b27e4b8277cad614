import { setTimeout as sleep } from "node:timers/promises";
import {
  type AnyDatabase,
  type CompiledModel,
  type DanglingReference,
  findDanglingReferences,
  type MigrationProgress,
  type VerifiedModel,
  type VerifyResult,
} from "@keywright/orm";

/** What is found of a model's references. */
interface VerifiedReferences {
  /** The `belongsTo` relations that were looked at. */
  readonly relations: readonly string[];
  readonly rows: number;
  /** How many lead to no row. */
  readonly danglingCount: number;
  /** The first of them. */
  readonly dangling: readonly DanglingReference[];
}

/** What is found of a model; `references` is absent where it has none, or they were not looked at. */
export interface ReportedModel extends VerifiedModel {
  readonly references?: VerifiedReferences;
}

/** How a verification of indexes and references ended. */
export interface VerifyReport extends VerifyResult {
  readonly models: readonly ReportedModel[];
}

interface ReferenceOptions {
  readonly rowsPerSecond: number | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: MigrationProgress) => void;
}

/** So many rows are read before the next look at the signal. */
const rowsOfPage = 1000;
/** So many dangling references of a model are kept. */
const mostKept = 100;

/**
 * Looks whether the references of those models that a verification of their indexes came to the end of lead to rows. It makes
 * a report of the verification's result.
 */
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
  { rowsPerSecond = Number.POSITIVE_INFINITY, signal, onProgress }: ReferenceOptions,
): Promise<VerifiedReferences | "stopped"> {
  // No more than a quarter of a second's rows at once, and a rest behind them.
  const rowsAtOnce = Math.min(rowsOfPage, Math.max(1, Math.floor(rowsPerSecond / 4)));
  const dangling: DanglingReference[] = [];
  const startedAt = performance.now();
  let rows = 0;
  let danglingCount = 0;
  let cursor: string | null = null;
  do {
    if (signal.aborted) return "stopped";
    const page = await findDanglingReferences(database, { model, cursor, rows: rowsAtOnce });
    ({ cursor } = page);
    rows += page.rows;
    danglingCount += page.items.length;
    dangling.push(...page.items.slice(0, mostKept - dangling.length));
    const dueAt = startedAt + (rows / rowsPerSecond) * 1000;
    const rest = cursor === null ? 0 : dueAt - performance.now();
    if (rest > 0) await sleep(rest, undefined, { signal }).catch(() => undefined);
    const seconds = (performance.now() - startedAt) / 1000;
    const rate = seconds > 0 ? rows / seconds : 0;
    // Nobody has counted the rows of a model without an index to look at.
    const isKnown = rate > 0 && rowsTotal > 0;
    onProgress({
      model,
      // It stands where the names of indexes do.
      indexes: ["references"],
      phase: "verifying",
      rowsDone: rows,
      rowsTotal: Math.max(rows, rowsTotal),
      rowsPerSecond: rate,
      secondsLeft: isKnown ? Math.max(rowsTotal - rows, 0) / rate : undefined,
    });
  } while (cursor !== null);
  return { relations, rows, danglingCount, dangling };
}
