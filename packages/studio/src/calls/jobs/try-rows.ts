import { isDeepStrictEqual } from "node:util";
import { ProgressMeter } from "@keywright/core";
import type { AnyDatabase, RowId } from "@keywright/orm";
import type { CompiledModel } from "@keywright/orm/codegen";
import { type PreviewedRow, previewMigration } from "@keywright/orm/migrate";
import type { JobProgress, TriedModel } from "../../protocol/maintenance.js";
import type { Row } from "../../protocol/rows.js";
import { keyOfId } from "../../source/row-key.js";

/** The work can be stopped, and reports its progress. */
export interface WorkOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: JobProgress) => void;
}

const pageRows = 500;
const maxShown = 5;

/** Tries the planned change of a model's rows on all of them. Returns null if it is stopped. */
export async function tryRows(
  database: AnyDatabase,
  model: CompiledModel,
  { signal, onProgress }: WorkOptions,
): Promise<TriedModel | null> {
  const tried = new TriedRows(model);
  const meter = new ProgressMeter(onProgress, { model: model.name });
  meter.begin("trying");
  let after: RowId | undefined;
  for (;;) {
    if (signal.aborted) return null;
    const page = await previewMigration(database, { model: model.name, rows: pageRows, after });
    for (const row of page) tried.add(row);
    meter.advance(tried.result.rows);
    if (page.length < pageRows) return tried.result;
    after = page.at(-1)?.id;
  }
}

/** Counts what a change does to rows. */
class TriedRows {
  readonly #model: CompiledModel;
  readonly #fields = new Map<string, { added: number; changed: number; removed: number }>();
  readonly #examples: TriedModel["examples"][number][] = [];
  readonly #failures: TriedModel["failures"][number][] = [];
  readonly #counts = { rows: 0, changed: 0, failed: 0 };

  constructor(model: CompiledModel) {
    this.#model = model;
  }

  get result(): TriedModel {
    return {
      ...{ model: this.#model.name, ...this.#counts },
      fields: [...this.#fields].map(([field, counts]) => ({ field, ...counts })),
      ...{ examples: this.#examples, failures: this.#failures },
    };
  }

  add(row: PreviewedRow): void {
    this.#counts.rows++;
    const key = keyOfId(this.#model, row.id);
    if (!("after" in row)) {
      this.#counts.failed++;
      if (this.#failures.length < maxShown) this.#failures.push({ key, reason: reasonOf(row) });
      return;
    }
    const { before, after } = row;
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    const differing = [...names].filter((name) => !isDeepStrictEqual(before[name], after[name]));
    if (differing.length === 0) return;
    this.#counts.changed++;
    for (const field of differing) this.#count(field, kindOf(field, before, after));
    if (this.#examples.length === maxShown) return;
    const picked = { before: pick(before, differing), after: pick(after, differing) };
    this.#examples.push({ key, ...picked });
  }

  #count(field: string, kind: "added" | "changed" | "removed"): void {
    const counts = this.#fields.get(field) ?? { added: 0, changed: 0, removed: 0 };
    this.#fields.set(field, { ...counts, [kind]: counts[kind] + 1 });
  }
}

function kindOf(field: string, before: Row, after: Row): "added" | "changed" | "removed" {
  if (before[field] === undefined) return "added";
  return after[field] === undefined ? "removed" : "changed";
}

function pick(row: Row, fields: readonly string[]): Row {
  return Object.fromEntries(
    fields.flatMap((field) => (row[field] === undefined ? [] : [[field, row[field]]])),
  );
}

function reasonOf({ reason, issues }: Exclude<PreviewedRow, { readonly after: unknown }>): string {
  const unsaid = issues.filter(({ message }) => !reason.includes(message));
  return [reason, ...unsaid.map(({ path, message }) => `${path.map(String).join(".")}: ${message}`)]
    .slice(0, 4)
    .join(" ");
}
