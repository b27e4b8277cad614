import * as z from "zod";
import { SeedFieldError, SeedReferenceError } from "../errors/seed-errors.js";
import type { SeedFieldContext } from "../project/config/config.js";
import { chooseParents } from "./choose-parents.js";
import type { AnyRow, Parents, SeedModel } from "./seed-model.js";
import { UniqueKeys } from "./unique-keys.js";
import { absentValue } from "./values/absent-value.js";
import { mayBeMissing } from "./values/collection-values.js";
import type { Fakes } from "./values/fakes.js";
import { generateValue, isAsyncError, maxAttempts, refusalOf } from "./values/generate-value.js";
import type { Place, Schema } from "./values/place.js";
import { UnfillableError } from "./values/unfillable-error.js";

/** The maximum number of attempts to find a free combination of parents. */
const maxCombinations = 10_000;

export interface GeneratedRow {
  /** The data from which `create` makes the row. */
  readonly input: AnyRow;
  /** The row as the schema returns it. */
  readonly row: AnyRow;
}

/** Generates the rows of a model, with different keys in unique indexes. */
export class RowGenerator {
  readonly #seedModel: SeedModel;
  readonly #fakes: Fakes;
  readonly #parents: Parents;
  readonly #properties: ReadonlyMap<string, string>;
  readonly #unique: UniqueKeys;
  /** The first number of primary keys that are numbers. */
  readonly #firstNumber: number;

  /**
   * @param properties the name of each model in `--rows`.
   * @param lastNumber the last primary key in the database, if it is a number.
   */
  constructor(
    seedModel: SeedModel,
    parents: Parents,
    fakes: Fakes,
    properties: ReadonlyMap<string, string>,
    lastNumber = 0,
  ) {
    this.#seedModel = seedModel;
    this.#parents = parents;
    this.#fakes = fakes;
    this.#properties = properties;
    this.#unique = new UniqueKeys(seedModel.model);
    this.#firstNumber = lastNumber + 1;
  }

  /**
   * Generates a row. Returns the name of the unique index that has no free value if none is found.
   *
   * @param index the position of the row, from 0.
   * @param tries how often the database has refused a row at this position.
   * @throws {SeedFieldError} if the schema refuses all generated rows.
   * @throws {SeedReferenceError} if a required reference has no row to lead to.
   */
  async generate(index: number, tries = 0): Promise<GeneratedRow | string> {
    const chosen = chooseParents(this.#seedModel, this.#parents, this.#fakes, this.#properties);
    const attempts = Math.max(maxAttempts, Math.min(chosen.combinations + 1, maxCombinations));
    let refusal: { readonly path: string; readonly reason: string } | undefined;
    let taken: string | undefined;
    for (let i = 0; i < attempts; i++) {
      const references = chosen.fieldsAt(tries + i);
      if (references === undefined) continue;
      const input = await this.#input(index, tries + i, references);
      const result = await this.#parse(input);
      if (!result.success) {
        const [issue] = result.error.issues;
        const path = (issue?.path ?? []).map(String).join(".");
        refusal = { path, reason: issue?.message ?? "the schema refuses the row" };
        if (i + 1 >= maxAttempts) break;
        continue;
      }
      const row = result.data as AnyRow;
      taken = this.#unique.take(row);
      if (taken === undefined) return { input, row };
    }
    if (taken !== undefined) return taken;
    const { sharing } = chosen;
    if (refusal === undefined && sharing !== undefined) {
      const { model } = this.#seedModel;
      const property = this.#properties.get(sharing.target) ?? sharing.target;
      const target = { model: sharing.target, property, isShared: true };
      throw new SeedReferenceError({ model: model.name, fields: sharing.fields, target });
    }
    const { path = "", reason = "" } = refusal ?? {};
    throw this.#error(path, `none of ${maxAttempts} generated rows passed: ${reason}`);
  }

  async #parse(input: AnyRow): Promise<z.ZodSafeParseResult<unknown>> {
    const { schema } = this.#seedModel.model;
    try {
      return z.safeParse(schema, input);
    } catch (error) {
      // In an object, the promise of a transform makes Zod fail with another error.
      if (!isAsyncError(error) && !(error instanceof TypeError)) throw error;
      return await z.safeParseAsync(schema, input);
    }
  }

  async #input(index: number, attempt: number, references: AnyRow): Promise<AnyRow> {
    const { model, fields: given } = this.#seedModel;
    const row: Record<string, unknown> = {};
    const set = (field: string, value: unknown) => {
      if (value !== undefined || !mayBeMissing(model.schema.shape[field]!)) row[field] = value;
      else delete row[field];
    };
    for (const [field, schema] of Object.entries(model.schema.shape)) {
      if (Object.hasOwn(given, field)) continue;
      if (Object.hasOwn(references, field)) set(field, references[field]);
      // Only a deletion may mark a row.
      else if (field === model.softDelete) set(field, absentValue(schema)?.value);
      else set(field, this.#value(field, schema, index, attempt));
    }
    if (model.timestamps !== undefined) orderTimes(row);
    for (const [field, value] of Object.entries(given)) {
      const context: SeedFieldContext = { faker: this.#fakes.faker, index, row };
      set(field, typeof value === "function" ? await value(context) : value);
    }
    return row;
  }

  #value(field: string, schema: Schema, index: number, attempt: number): unknown {
    const { model } = this.#seedModel;
    const isKey = model.primaryKey.length === 1 && model.primaryKey[0] === field;
    if (isKey && attempt < 2) {
      const position = this.#firstNumber + index;
      for (const number of [position, BigInt(position)]) {
        if (isNumber(schema) && refusalOf(schema, number) === undefined) return number;
      }
    }
    const sum = model.sums.find((each) => each.field === field) ?? indexSum(model, field);
    const decimals = sum?.type === "number" ? sum.scale : undefined;
    const place: Place = {
      fakes: this.#fakes,
      model: model.name,
      path: [field],
      attempt,
      depth: 1,
      isPresent: model.primaryKey.includes(field),
      decimals,
    };
    if (sum?.type === "string") {
      const text = this.#fakes.faker.number.float({ min: 1, max: 1000 }).toFixed(sum.scale);
      if (refusalOf(schema, text) === undefined) return text;
    }
    try {
      return generateValue(schema, place);
    } catch (error) {
      if (!(error instanceof UnfillableError)) throw error;
      throw this.#error(error.path.join("."), error.message);
    }
  }

  #error(path: string, reason: string): SeedFieldError {
    const { model, property } = this.#seedModel;
    return new SeedFieldError({ model: model.name, property, path, reason });
  }
}

type Model = SeedModel["model"];

function indexSum({ indexes }: Model, field: string) {
  return indexes.flatMap(({ sums }) => sums).find((each) => each.field === field);
}

function isNumber(schema: Schema): boolean {
  return ["number", "bigint"].includes(schema._zod.def.type);
}

/** Makes `updatedAt` the later one of both times. */
function orderTimes(row: Record<string, unknown>): void {
  const { createdAt, updatedAt } = row as { createdAt: Date; updatedAt: Date };
  if (createdAt > updatedAt) [row.createdAt, row.updatedAt] = [updatedAt, createdAt];
}
