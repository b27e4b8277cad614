import type { KvKeyPart } from "@keywright/core";
import * as fc from "fast-check";
import { expect } from "vitest";
import type { AnyIndexDefinition } from "../src/index.js";
import type { PlainResult, PlainTable } from "./plain-table.js";
import type { Patch, RandomModel } from "./random-model.js";
import { indexPartOf, partsOf, prefixOf } from "./verify-indexes.js";

type AnyRow = Readonly<Record<string, unknown>>;

type ManyResult = {
  readonly count: number;
  readonly results: readonly (
    | { readonly ok: true; readonly row: AnyRow }
    | { readonly ok: false; readonly error: unknown }
  )[];
};

/** A repository whatever its model. */
export interface AnyRepository {
  create(write: object): Promise<AnyRow>;
  createMany(write: object): Promise<ManyResult>;
  update(write: object): Promise<AnyRow>;
  updateMany(write: object): Promise<ManyResult>;
  upsert(write: object): Promise<AnyRow>;
  delete(write: object): Promise<AnyRow>;
  deleteMany(write: object): Promise<ManyResult>;
  findUnique(query: object): Promise<AnyRow | null>;
  findMany(query: object): Promise<{ items: AnyRow[]; cursor: string | null }>;
  scan(query?: object): Promise<{ items: AnyRow[]; cursor: string | null }>;
  count(query?: object): Promise<number>;
  exists(query?: object): Promise<boolean>;
}

/** A database with the one repository that the tests use. */
export interface AnyThings {
  readonly things: AnyRepository;
  readonly transaction: (body: (tx: { things: AnyRepository }) => Promise<void>) => Promise<void>;
}

/** Some rows by an index: those that agree with a row in the first parts of its key. */
export interface Range {
  readonly index: number;
  readonly row: number;
  readonly parts: number;
  readonly element: number;
}

/** One call of a repository, or a transaction of several. */
export type Step =
  | { readonly type: "create"; readonly input: AnyRow }
  | { readonly type: "createInvalid"; readonly input: AnyRow }
  | { readonly type: "createMany"; readonly inputs: readonly AnyRow[]; readonly atomic: boolean }
  | { readonly type: "update"; readonly key: AnyRow; readonly pick: number; readonly patch: Patch }
  | {
      readonly type: "upsert";
      readonly input: AnyRow;
      readonly pick: number;
      readonly patch: Patch;
    }
  | { readonly type: "delete"; readonly key: AnyRow; readonly pick: number }
  | {
      readonly type: "updateMany";
      readonly range: Range;
      readonly patch: Patch;
      readonly atomic: boolean;
    }
  | { readonly type: "deleteMany"; readonly range: Range; readonly atomic: boolean }
  | { readonly type: "query"; readonly range: Range; readonly take: number }
  | { readonly type: "transaction"; readonly steps: readonly Step[]; readonly fails: boolean };

/** Steps for a model. */
export function stepsFor(random: RandomModel, maxLength: number): fc.Arbitrary<Step[]> {
  const { input, patch } = random;
  const pick = fc.nat(20);
  const atomic = fc.boolean();
  const range = fc.record({ index: pick, row: pick, parts: fc.nat(3), element: pick });
  const type = <T extends string>(name: T) => fc.constant(name);
  const create = fc.record({ type: type("create"), input });
  const single = fc.oneof(
    { weight: 5, arbitrary: create },
    { weight: 1, arbitrary: fc.record({ type: type("createInvalid"), input }) },
    {
      weight: 2,
      arbitrary: fc.record({
        type: type("createMany"),
        inputs: fc.array(input, { maxLength: 5 }),
        atomic,
      }),
    },
    { weight: 5, arbitrary: fc.record({ type: type("update"), key: input, pick, patch }) },
    { weight: 3, arbitrary: fc.record({ type: type("upsert"), input, pick, patch }) },
    { weight: 2, arbitrary: fc.record({ type: type("delete"), key: input, pick }) },
    { weight: 2, arbitrary: fc.record({ type: type("updateMany"), range, patch, atomic }) },
    { weight: 1, arbitrary: fc.record({ type: type("deleteMany"), range, atomic }) },
    {
      weight: 4,
      arbitrary: fc.record({ type: type("query"), range, take: fc.integer({ min: 1, max: 4 }) }),
    },
  );
  const transaction = fc.record({
    type: type("transaction"),
    steps: fc.array(single, { maxLength: 4 }),
    fails: fc.boolean(),
  });
  return fc.array(
    fc.oneof({ weight: 8, arbitrary: single }, { weight: 1, arbitrary: transaction }),
    {
      maxLength,
    },
  );
}

/** What it takes to ask for a range, and which keys are in it. */
export interface Asked {
  readonly name: string;
  readonly query: { readonly index: string; readonly where?: AnyRow };
  readonly prefix: readonly KvKeyPart[];
}

/** Makes calls of a database and of a plain table at the same time, and compares what they say. */
export class ModelSession {
  readonly #random: RandomModel;
  readonly #plain: PlainTable;
  readonly #isLimited: boolean;

  /**
   * @param isLimited whether the database takes so little at once that a call may be refused for
   * it.
   */
  constructor(random: RandomModel, plain: PlainTable, isLimited: boolean) {
    this.#random = random;
    this.#plain = plain;
    this.#isLimited = isLimited;
  }

  async run(db: AnyThings, step: Step): Promise<void> {
    if (step.type !== "transaction") {
      await this.#runSingle(db.things, step, false);
      return;
    }
    // Most transactions read more than one commit of such a database can check.
    if (this.#isLimited) return;
    const restore = this.#plain.snapshot();
    const stop = new Error("stop");
    try {
      await db.transaction(async (tx) => {
        restore();
        for (const inner of step.steps) await this.#runSingle(tx.things, inner as never, true);
        if (step.fails) throw stop;
      });
    } catch (error) {
      if (error !== stop) throw error;
      restore();
    }
  }

  async #runSingle(
    things: AnyRepository,
    step: Exclude<Step, { type: "transaction" }>,
    isWithin: boolean,
  ): Promise<void> {
    switch (step.type) {
      case "create":
        return await this.#create(things, step.input);
      case "createInvalid": {
        const name = Object.keys(this.#random.fields)[0] as string;
        const data = { ...step.input, [name]: Symbol.iterator };
        const error = await things.create({ data }).catch((thrown: unknown) => thrown);
        expect(error).toMatchObject({ code: "KW_ROW_INVALID" });
        return;
      }
      case "createMany":
        return await this.#createMany(things, step.inputs, step.atomic);
      case "update":
        return await this.#update(things, this.#where(step.key, step.pick), step.patch);
      case "upsert":
        return await this.#upsert(things, step.input, step.pick, step.patch);
      case "delete": {
        const where = this.#where(step.key, step.pick);
        if (where === undefined) return;
        await expectSame(things.delete({ where }), this.#plain.delete(where));
        return;
      }
      case "updateMany":
        return await this.#updateMany(things, step.range, step.patch, step.atomic && !isWithin);
      case "deleteMany": {
        const asked = this.#ask(step.range);
        if (asked === undefined) return;
        const rows = this.#plain.rowsAt(asked.name, asked.prefix);
        const outcome = await settled(things.deleteMany({ ...asked.query, atomic: step.atomic }));
        if ("error" in outcome) {
          if (!this.#isTooMuch(outcome.error)) throw outcome.error;
          return;
        }
        const { count, results } = outcome.value;
        expect(results).toEqual(rows.map((row) => ({ ok: true, row })));
        expect(count).toBe(rows.length);
        for (const row of rows) this.#plain.delete(row);
        return;
      }
      case "query":
        return await this.#query(things, step.range, step.take);
    }
  }

  async #create(things: AnyRepository, data: AnyRow): Promise<void> {
    const created = settled(things.create({ data }));
    await expectSettled(await created, (id) => this.#plain.create(this.#stored(data, id)));
  }

  async #createMany(
    things: AnyRepository,
    inputs: readonly AnyRow[],
    atomic: boolean,
  ): Promise<void> {
    const restore = this.#plain.snapshot();
    const outcome = await settled(things.createMany({ data: inputs, atomic }));
    if ("error" in outcome && atomic && this.#isTooMuch(outcome.error)) return;
    const results = "error" in outcome ? [] : outcome.value.results;
    const expected: PlainResult[] = [];
    for (const [i, input] of inputs.entries()) {
      const result = results[i];
      const plain = this.#plain.create(this.#stored(input, result?.ok ? result.row.id : undefined));
      expected.push(plain);
      if (atomic && "code" in plain) {
        expect(outcome).toMatchObject({ error: { code: plain.code } });
        restore();
        return;
      }
    }
    expect(results).toEqual(
      expected.map((plain, position) =>
        "row" in plain
          ? { ok: true, row: plain.row }
          : { ok: false, position, error: expect.objectContaining({ code: plain.code }) },
      ),
    );
  }

  async #update(things: AnyRepository, where: AnyRow | undefined, patch: Patch): Promise<void> {
    if (where === undefined) return;
    const outcome = await settled(things.update({ where, data: patch.data }));
    // An update that changes many unique keys has more checks than such a database takes.
    if ("error" in outcome && this.#isTooMuch(outcome.error)) return;
    await expectSettled(outcome, () => this.#plain.update(where, patch.apply));
  }

  async #upsert(things: AnyRepository, input: AnyRow, pick: number, patch: Patch): Promise<void> {
    const where = this.#where(input, pick);
    if (where === undefined) return;
    const outcome = await settled(things.upsert({ where, create: input, update: patch.data }));
    if ("error" in outcome && this.#isTooMuch(outcome.error)) return;
    await expectSettled(outcome, (id) =>
      this.#plain.find(where) === undefined
        ? this.#plain.create(this.#stored(input, id))
        : this.#plain.update(where, patch.apply),
    );
  }

  async #updateMany(
    things: AnyRepository,
    range: Range,
    patch: Patch,
    atomic: boolean,
  ): Promise<void> {
    const asked = this.#ask(range);
    if (asked === undefined) return;
    const rows = this.#plain.rowsAt(asked.name, asked.prefix);
    const call = settled(things.updateMany({ ...asked.query, data: patch.data, atomic }));
    const outcome = await call;
    if (atomic) {
      if ("error" in outcome && this.#isTooMuch(outcome.error)) return;
      const restore = this.#plain.snapshot();
      const expected = rows.map((row) => this.#plain.update(row, patch.apply));
      const failed = expected.find((plain) => "code" in plain);
      if (failed !== undefined) {
        expect(outcome).toMatchObject({ error: failed });
        restore();
        return;
      }
    }
    if ("error" in outcome) throw outcome.error;
    const { results } = outcome.value;
    expect(results).toHaveLength(rows.length);
    // Who of several rows gets a unique value that they pass on is a matter of chance.
    for (const [i, result] of results.entries()) {
      const row = rows[i] as AnyRow;
      if (result.ok) {
        expect(result.row).toEqual(patch.apply(row));
        this.#plain.replace(patch.apply(row));
      } else {
        expect(result.error).toMatchObject({ code: "KW_UNIQUE_CONSTRAINT" });
        expect(this.#hasUniqueIndex()).toBe(true);
      }
    }
  }

  async #query(things: AnyRepository, range: Range, take: number): Promise<void> {
    const asked = this.#ask(range);
    const all = this.#plain.rows;
    expect((await things.scan()).items).toEqual(all);
    expect(await things.count()).toBe(all.length);
    if (asked === undefined) return;
    const rows = this.#plain.rowsAt(asked.name, asked.prefix);
    const found: AnyRow[] = [];
    let cursor: string | null = null;
    do {
      const page: { items: AnyRow[]; cursor: string | null } = await things.findMany({
        ...asked.query,
        take,
        cursor,
      });
      found.push(...page.items);
      cursor = page.cursor;
    } while (cursor !== null);
    expect(found).toEqual(rows);
    expect(await things.exists(asked.query)).toBe(rows.length > 0);
    expect(await things.count(asked.query)).toBe(rows.length);
    const [first] = rows;
    if (first === undefined) return;
    expect(await things.findUnique({ where: this.#keyOf(first) })).toEqual(first);
  }

  /**
   * The primary key that a step means: its own, or that of a row that is there where keys are
   * generated.
   */
  #where(key: AnyRow, pick: number): AnyRow | undefined {
    if (!this.#random.generatesId) return this.#keyOf(key);
    const { rows } = this.#plain;
    const row = rows[pick % rows.length];
    return row && this.#keyOf(row);
  }

  #keyOf(row: AnyRow): AnyRow {
    return Object.fromEntries(this.#random.primaryKey.map((field) => [field, row[field]]));
  }

  #stored(input: AnyRow, id: unknown): AnyRow {
    const row = this.#random.stored(input);
    return this.#random.generatesId ? { ...row, id: id ?? "not known" } : row;
  }

  #isTooMuch(error: unknown): boolean {
    return this.#isLimited && (error as { code?: unknown }).code === "KW_LIMIT_EXCEEDED";
  }

  #hasUniqueIndex(): boolean {
    const indexes = Object.values<AnyIndexDefinition>(this.#random.model.indexes);
    return indexes.some(({ unique }) => unique);
  }

  #ask(range: Range): Asked | undefined {
    return askFor(this.#random, this.#plain.rows, range);
  }
}

/** What to ask a repository for a range, where there are an index and a row for it. */
export function askFor(
  { model }: RandomModel,
  rows: readonly AnyRow[],
  { index, row: pick, parts, element }: Range,
): Asked | undefined {
  const names = Object.keys(model.indexes);
  const name = names[index % names.length];
  const row = rows[pick % rows.length];
  if (name === undefined || row === undefined) return undefined;
  const definition = model.indexes[name] as AnyIndexDefinition;
  const where: Record<string, unknown> = {};
  const prefix: KvKeyPart[] = [prefixOf(model, name, definition)];
  for (const [place, part] of partsOf(definition).slice(0, parts).entries()) {
    const field = typeof part === "string" ? part : typeof part === "object" ? part.desc : name;
    const whole = typeof part === "function" ? part(row as never) : row[field];
    const isList = definition.each === true && Array.isArray(whole);
    const value = isList ? whole[element % whole.length] : whole;
    if (value === undefined || value === null) break;
    where[field] = isList ? { has: value } : value;
    prefix.push(indexPartOf(definition, place, value));
  }
  return { name, query: prefix.length === 1 ? { index: name } : { index: name, where }, prefix };
}

type Settled<T> = { readonly value: T } | { readonly error: unknown };

async function settled<T>(promise: Promise<T>): Promise<Settled<T>> {
  try {
    return { value: await promise };
  } catch (error) {
    return { error };
  }
}

async function expectSame(promise: Promise<AnyRow>, plain: PlainResult): Promise<void> {
  await expectSettled(await settled(promise), () => plain);
}

/** @param plainly what the plain table says, by the id that the database gave the row. */
async function expectSettled(
  actual: Settled<AnyRow>,
  plainly: (id: unknown) => PlainResult,
): Promise<void> {
  const plain = plainly("value" in actual ? actual.value.id : undefined);
  if ("row" in plain && "value" in actual) expect(actual.value).toEqual(plain.row);
  else if ("row" in plain) throw (actual as { error: unknown }).error;
  else expect(actual).toMatchObject({ error: { code: plain.code } });
}
