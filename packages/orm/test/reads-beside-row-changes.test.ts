import { setImmediate } from "node:timers/promises";
import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineMigration, defineModel, migrate } from "../src/index.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const schema = z.object({
  id: z.string(),
  project: z.string(),
  title: z.string(),
  deletedAt: z.number().nullable(),
});
const base = { name: "issues", primaryKey: "id" } as const;
const indexes = {
  byProject: {
    key: "project",
    where: (issue: { deletedAt: number | null }) => issue.deletedAt === null,
  },
  byTens: { key: (issue: { deletedAt: number | null }) => Math.floor((issue.deletedAt ?? 0) / 10) },
} as const;
const Before = defineModel({ ...base, schema, indexes });
const Estimated = defineModel({
  ...base,
  schema: schema.extend({ estimate: z.int().default(0) }),
  indexes,
});
const Renamed = defineModel({
  ...base,
  schema: schema.omit({ title: true }).extend({ name: z.string() }),
  indexes,
});
const rename = defineMigration({
  model: Renamed,
  from: schema,
  to: Renamed.schema,
  up: ({ title, ...issue }) => ({ ...issue, name: title }),
});

const count = 1500;
const data = Array.from({ length: count }, (_, i) => ({
  id: `i${String(i).padStart(4, "0")}`,
  project: `p${i % 10}`,
  title: `Issue ${i}`,
  deletedAt: i % 3 === 0 ? i : null,
}));

describe("indexes with functions stay readable from the opening of the program to the end of migrate", () => {
  it.each([
    ["a field with a default is added", Estimated, []],
    ["a field gets another name", Renamed, [rename]],
  ])("while %s", async (_, Model: object, migrations) => {
    const old = await createDatabase({ kv, models: { issues: Before } });
    await old.issues.createMany({ data });
    const models = { issues: Model as unknown as typeof Before };
    const db = await createDatabase({ kv, models, migrations });
    let project = 0;
    let reads = 0;
    const read = async (issues: typeof db.issues) => {
      const name = `p${project++ % 10}`;
      const where = { project: name };
      const { items } = await issues.findMany({ index: "byProject", where, take: count });
      const expected = data.filter((one) => one.project === name && one.deletedAt === null);
      expect(items.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
      const tens = await issues.findMany({ where: { byTens: 3 }, take: count });
      expect(tens.items.map(({ deletedAt }) => deletedAt)).toEqual([30, 33, 36, 39]);
      reads++;
    };
    await read(db.issues);
    let isDone = false;
    // A row without the title is not a row of the old program.
    const isRefused = (error: { code?: string }) =>
      Model === Renamed && error.code === "KW_STALE_SCHEMA";
    const readOld = async (issues: typeof db.issues) =>
      await read(issues).catch((error) => {
        if (!isRefused(error)) throw error;
      });
    const reading = [db.issues, old.issues].map(async (issues) => {
      while (!isDone) {
        await (issues === db.issues ? read(issues) : readOld(issues));
        await setImmediate();
      }
    });
    const migrating = migrate(db).finally(() => {
      isDone = true;
    });
    const [result] = await Promise.all([migrating, ...reading]);
    expect(result.status).toBe("done");
    expect(result.plan.steps.map(({ kind }) => kind)).not.toContain("rebuild-index");
    expect(reads).toBeGreaterThan(10);
    await read(db.issues);
    await expectIndexesToMatch(kv, models.issues);
  });
});
