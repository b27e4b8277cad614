import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { adopt, guideLayout } from "../src/adopt.js";
import {
  createDatabase,
  defineMigration,
  defineModel,
  LeaseLostError,
  migrate,
  RowUpgradeError,
  SchemaNotMigratedError,
} from "../src/index.js";
import {
  findDanglingReferences,
  findDuplicates,
  findFailedRows,
  formatPlan,
  planMigration,
  previewMigration,
  verifyIndexes,
} from "../src/migrate.js";
import { denoKv } from "./faulty-kv.js";
import { recordModel } from "./record-model.js";
import { rejection } from "./user-model.js";

/** Stored in every row of these tests, and so in no message. */
const secret = "ada@example.com";

const schema = z.object({ id: z.string(), email: z.string(), age: z.number() });
const Old = defineModel({
  name: "users",
  schema,
  primaryKey: "id",
  indexes: { byEmail: { key: "email", unique: true }, byAge: { key: "age" } },
});

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

async function fill() {
  const db = await createDatabase({ kv, models: { users: Old } });
  await db.users.createMany({
    data: [
      { id: "1", email: secret, age: 36 },
      { id: "2", email: `x${secret}`, age: 36 },
    ],
  });
  return db;
}

/** The reason that the message of an `InvalidArgumentError` contains. */
const reasonOf = async (call: Promise<unknown>): Promise<string> => {
  const error = await rejection(call);
  expect(error.code).toBe("KW_ARGUMENT_INVALID");
  expect(String(error)).not.toContain(secret);
  return String(error.reason);
};

describe("a plan", () => {
  it("names each index, says what happens to it, and what can be done instead", async () => {
    await fill();
    const Changed = defineModel({
      ...Old,
      indexes: {
        byEmail: { key: "email", unique: true, normalize: (email) => email.toLowerCase() },
        byAgeAndEmail: { key: ["age", "email"] },
      },
    });
    const plan = await planMigration(await createDatabase({ kv, models: { users: Changed } }));
    expect(plan.steps.map(({ id, reason }) => [id, reason])).toEqual([
      [
        "users.byAge: drop-index",
        "The model no longer has the index byAge. Its entries are removed, and queries of other programs that use it fail.",
      ],
      [
        "users.byEmail: rebuild-index",
        "The index byEmail changes: it normalizes its values now. The index byEmail is rebuilt beside its entries. Until the new ones are complete, queries use the old ones, and queries that only the new ones serve fail.",
      ],
      [
        "users.byAgeAndEmail: build-index",
        "The new index byAgeAndEmail is built from the rows. It can be read after that.",
      ],
    ]);
    const text = formatPlan(plan, { columns: 1000 });
    expect(text).toContain(
      "3 steps. 1 of them is breaking and must be accepted. Programs with the old models cannot write afterwards.",
    );
    expect(text).not.toContain(secret);
  });

  it("says of a single step that it is breaking", async () => {
    await fill();
    const Changed = defineModel({ ...Old, indexes: { byEmail: Old.indexes.byEmail } });
    const db = await createDatabase({ kv, models: { users: Changed } });
    expect(formatPlan(await planMigration(db))).toContain("1 step. It is breaking and must be");
  });

  it("says which migration does not lead to the model, and why", async () => {
    await fill();
    const to = schema.extend({ age: z.string() });
    const Changed = defineModel({ ...Old, schema: to });
    const migration = defineMigration({
      name: "ages are texts",
      model: Changed,
      from: schema.extend({ email: z.number() }),
      to,
      up: (row) => ({ ...row, email: String(row.email), age: String(row.age) }),
    });
    const models = { users: Changed };
    const { steps } = await planMigration(
      await createDatabase({ kv, models, migrations: [migration] }),
    );
    expect(steps.find(({ blocked }) => blocked !== undefined)?.blocked).toMatch(
      /^The migration "ages are texts" does not lead from the stored rows to the model: its from differs from the stored schema in "email"\.\nWrite a migration:\n/,
    );
  });

  it("names the index whose values rows share, without the values", async () => {
    const Plain = defineModel({ ...Old, indexes: {} });
    const before = await createDatabase({ kv, models: { users: Plain } });
    const data = ["1", "2"].map((id) => ({ id, email: secret, age: 36 }));
    await before.users.createMany({ data });
    const db = await createDatabase({ kv, models: { users: Old } });
    expect(await migrate(db)).toMatchObject({ status: "duplicates" });
    const [step] = (await planMigration(db)).steps;
    expect(step?.reason).toBe(
      "Several rows have the same value of the unique index byEmail. Change or delete all but one row of each value. The index can be read after that. A run only checks the rows again.",
    );
  });
});

describe("an error", () => {
  it.each([
    [new SchemaNotMigratedError("users", ["the field age is new"]), "migrate"],
    [new RowUpgradeError("users", secret, "age is missing", new Error(secret)), "row"],
    [new LeaseLostError(), "another runner has taken over"],
  ])("of a migration says what happened: %s", (error, text) => {
    expect(String(error).toLowerCase()).toContain(text);
    expect(String(error)).not.toContain(secret);
  });

  it("of a report or a preview names the option", async () => {
    const db = await fill();
    expect(await reasonOf(findDuplicates(db, { model: "users", index: "byName" }))).toBe(
      "the model has no index byName",
    );
    expect(await reasonOf(verifyIndexes(db, { indexes: ["byName"] }))).toContain("byName");
    for (const [call, text] of [
      [
        () => findDuplicates(db, { model: "users", index: "byEmail", take: 0 }),
        "take is not valid: it must be a",
      ],
      [
        () => findFailedRows(db, { model: "users", take: 0 }),
        "take is not valid: it must be a positive integer",
      ],
      [
        () => findDanglingReferences(db, { model: "users", rows: 0 }),
        "rows is not valid: it must be a positive integer",
      ],
      [
        () => previewMigration(db, { model: "users", rows: 0 }),
        "rows is not valid: it must be a positive integer",
      ],
      [
        () => migrate(db, { rowsPerSecond: 0 }),
        "rowsPerSecond is not valid: it must be a positive number",
      ],
    ] as const) {
      expect(String(await rejection(call()))).toContain(text);
    }
  });

  it("of an adoption says where the data can go instead", async () => {
    const db = await fill();
    const Elsewhere = defineModel({ ...Old, name: "people", prefix: "users_by_age", indexes: {} });
    await recordModel(kv, Elsewhere);
    const other = await createDatabase({ kv, models: { people: Elsewhere } });
    const layout = guideLayout(Old);
    expect(await reasonOf(adopt(other, { from: kv, models: { people: layout } }))).toBe(
      'the source is in the same database, and the model people stores its entries under "users_by_age", as the source does; give the model other prefixes, or adopt into another database',
    );
    const map = () => ({ id: "1", email: secret, age: 1 });
    expect(await reasonOf(adopt(db, { from: kv, models: { users: { layout, map } } }))).toContain(
      "change them with a migration, or adopt into another database",
    );
  });

  it("of a live query says what to call instead", async () => {
    const db = await createDatabase({ kv: denoKv(kv), models: { users: Old } });
    const watch = db.transaction(async (tx) => {
      const { users } = tx as typeof db;
      users.watch({ where: { id: "1" } });
    });
    expect(await reasonOf(watch)).toBe(
      "a transaction has no live queries; call watch on the database",
    );
  });
});

it("the report of a row that failed says why", async () => {
  await fill();
  const Changed = defineModel({ ...Old, schema: schema.extend({ age: z.string() }) });
  const migration = defineMigration({
    name: "ages are texts",
    model: Changed,
    from: schema,
    to: Changed.schema,
    up: (row) => ({ ...row, age: row.id === "2" ? (row.age as never) : String(row.age) }),
  });
  const models = { users: Changed };
  const db = await createDatabase({ kv, models, migrations: [migration] });
  expect(await migrate(db, { accept: true })).toMatchObject({
    status: "failed-rows",
    failed: [{ id: "2", reason: expect.stringContaining("age: "), issues: [{ path: ["age"] }] }],
  });
});
