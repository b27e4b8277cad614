import { SeedReferenceError, SeedUniqueError } from "../errors/seed-errors.js";
import { type GeneratedRow, RowGenerator } from "./row-generator.js";
import type { AnyRow, SeedModel } from "./seed-model.js";
import type { Fakes } from "./values/fakes.js";

const batchSize = 500;
/** How often another row is generated if the database has one with a key of its own. */
const maxConflicts = 100;

/** The outcome of writing a row. */
export type Written =
  | { readonly ok: true; readonly row: AnyRow }
  | { readonly ok: false; readonly error: unknown };

/** Where the rows go. */
export interface SeedTarget {
  write(model: SeedModel, rows: readonly GeneratedRow[]): Promise<readonly Written[]>;
  /** The rows that exist, or some of them if there are many, and the last key if it is a number. */
  existing(
    model: SeedModel,
  ): Promise<{ readonly rows: readonly AnyRow[]; readonly lastNumber: number }>;
  /** Called after each batch. */
  onProgress(model: SeedModel, done: number): void;
}

export interface SeededModel {
  readonly model: string;
  /** How many rows were asked for. */
  readonly requested: number;
  readonly rows: number;
  readonly sample: readonly AnyRow[];
  /** The unique index that has no free value for more rows. */
  readonly exhausted?: string;
}

export interface SeedOutcome {
  readonly status: "done" | "stopped";
  readonly models: readonly SeededModel[];
}

/** How many rows of each model are in the result. */
const sampleSize = 3;

/**
 * Generates rows and passes them to a target, parents before the rows that refer to them.
 *
 * @param signal stops after the current batch.
 * @throws {SeedFieldError} if no value is found that a schema accepts.
 * @throws {SeedReferenceError} if a required reference has no row to lead to.
 * @throws {SeedUniqueError} if a count was asked for by name and there are not that many keys.
 * @throws the error of a row that the database refuses for another reason than a unique key.
 */
export async function seedRows(
  models: readonly SeedModel[],
  fakes: Fakes,
  target: SeedTarget,
  signal: AbortSignal,
): Promise<SeedOutcome> {
  const properties = new Map(models.map(({ model, property }) => [model.name, property]));
  const parents = new Map<string, AnyRow[]>();
  const seeded: SeededModel[] = [];
  const referred = new Set(
    models.flatMap(({ references }) => references.map((each) => each.target)),
  );
  for (const each of orderModels(models)) {
    const { name } = each.model;
    const existing = await target.existing(each);
    const own = [...existing.rows];
    parents.set(name, own);
    if (each.count === 0) continue;
    const generator = new RowGenerator(each, parents, fakes, properties, existing.lastNumber);
    let result: SeededModel = { model: name, requested: each.count, rows: 0, sample: [] };
    while (result.rows < each.count && result.exhausted === undefined && !signal.aborted) {
      const size = Math.min(batchSize, each.count - result.rows);
      const isSelfReferring = each.references.some(({ target: other }) => other === name);
      // A row can refer to those that were written before.
      const batch = isSelfReferring ? Math.min(size, Math.max(1, own.length)) : size;
      const { rows, exhausted } = await writeBatch(each, generator, target, result.rows, batch);
      if (referred.has(name)) own.push(...rows);
      result = {
        ...result,
        rows: result.rows + rows.length,
        sample: [...result.sample, ...rows].slice(0, sampleSize),
        ...(exhausted !== undefined && { exhausted }),
      };
      target.onProgress(each, result.rows);
    }
    if (result.exhausted !== undefined && each.isCountNamed) {
      throw new SeedUniqueError({
        model: name,
        index: result.exhausted,
        count: result.rows,
        requested: each.count,
      });
    }
    seeded.push(result);
  }
  return { status: signal.aborted ? "stopped" : "done", models: seeded };
}

interface Batch {
  readonly rows: readonly AnyRow[];
  readonly exhausted: string | undefined;
}

async function writeBatch(
  model: SeedModel,
  generator: RowGenerator,
  target: SeedTarget,
  start: number,
  size: number,
): Promise<Batch> {
  const rows: AnyRow[] = [];
  let positions = Array.from({ length: size }, (_, i) => start + i);
  for (let tries = 0; positions.length > 0; tries++) {
    const generated: GeneratedRow[] = [];
    let exhausted: string | undefined;
    for (const position of positions) {
      const row = await generator.generate(position, tries);
      if (typeof row === "string") {
        exhausted = row;
        break;
      }
      generated.push(row);
    }
    const refused: number[] = [];
    const outcomes = await target.write(model, generated);
    for (const [i, outcome] of outcomes.entries()) {
      if (outcome.ok) rows.push(outcome.row);
      else if (isConflict(outcome.error) && tries < maxConflicts) refused.push(positions[i]!);
      else if (isConflict(outcome.error)) exhausted = outcome.error.index;
      else throw outcome.error;
    }
    if (exhausted !== undefined) return { rows, exhausted };
    positions = refused;
  }
  return { rows, exhausted: undefined };
}

function isConflict(error: unknown): error is { readonly index: string } {
  return (error as { readonly code?: unknown } | null)?.code === "KW_UNIQUE_CONSTRAINT";
}

/**
 * Returns models in an order in which the rows that a row refers to exist before it. If models
 * refer to each other, an optional reference of one of them comes too early and stays empty.
 *
 * @throws {SeedReferenceError} if models refer to each other, and none of them optionally.
 */
function orderModels(models: readonly SeedModel[]): SeedModel[] {
  const open = new Map(models.map((each) => [each.model.name, each]));
  const ordered: SeedModel[] = [];
  while (open.size > 0) {
    const all = [...open.values()];
    const next =
      all.find((each) => waitsFor(each, open, false) === undefined) ??
      all.find((each) => waitsFor(each, open, true) === undefined);
    if (next === undefined) {
      const [first] = all;
      const { fields, target } = waitsFor(first!, open, true)!;
      const { property } = open.get(target)!;
      throw new SeedReferenceError({
        model: first!.model.name,
        fields,
        target: { model: target, property },
      });
    }
    ordered.push(next);
    open.delete(next.model.name);
  }
  return ordered;
}

/** Returns a reference to a model without rows yet. A reference to the own model waits for none. */
function waitsFor(
  { model, references, fields: given }: SeedModel,
  open: ReadonlyMap<string, SeedModel>,
  isRequiredOnly: boolean,
) {
  return references.find(
    ({ target, isOptional, fields }) =>
      target !== model.name &&
      open.has(target) &&
      !(isRequiredOnly && isOptional) &&
      !fields.every((field) => Object.hasOwn(given, field)),
  );
}
