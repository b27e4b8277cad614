import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineMigration, defineModel, migrate } from "../src/index.js";
import { previewDuplicates } from "../src/migrate.js";
import { rejection } from "./user-model.js";

const schema = z.object({ id: z.string(), email: z.string(), tags: z.array(z.string()) });
const base = { name: "users", primaryKey: "id" } as const;
const Plain = defineModel({ ...base, schema });
const User = defineModel({
  ...base,
  schema,
  indexes: {
    byEmail: { key: "email", unique: true, normalize: (email) => email.toLowerCase() },
    byTag: { key: "tags", each: true, unique: true },
    byId: { key: ["email", "id"] },
  },
});

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const count = 1000;
const emailOf = (i: number) =>
  i % 100 === 7 ? `A${i % 500}` : i % 100 === 8 ? `a${(i % 500) - 1}` : `b${i}`;
const data = Array.from({ length: count }, (_, i) => ({
  id: `u${String(i).padStart(4, "0")}`,
  email: emailOf(i),
  tags: [`t${i}`, `s${i}`],
}));

async function open() {
  const old = await createDatabase({ kv, models: { users: Plain } });
  await old.users.createMany({ data });
  return await createDatabase({ kv, models: { users: User } });
}

/** The number of rows whose normalized value an earlier row has. */
const expectedCount = count - new Set(data.map(({ email }) => email.toLowerCase())).size;

it.each([2 ** 21, 150])(
  "counts rows that share a value with %i hashes in memory",
  async (hashes) => {
    const db = await open();
    let rows = 0;
    const onRows = (read: number) => {
      rows = read;
    };
    const query = { model: "users", index: "byEmail" };
    const found = await previewDuplicates(db, query, { hashes, onRows });
    expect(expectedCount).toBeGreaterThan(5);
    expect(found.duplicateCount).toBe(expectedCount);
    expect(found.examples.length).toBeGreaterThan(3);
    for (const ids of found.examples) {
      const emails = ids.map((id) => data.find((row) => row.id === id)?.email.toLowerCase());
      expect(ids.length).toBeGreaterThan(1);
      expect(new Set(emails).size).toBe(1);
    }
    expect(JSON.stringify(found)).not.toMatch(/"[aA]\d/);
    expect(rows % count).toBe(0);
    expect(rows).toBeGreaterThanOrEqual(2 * count);
  },
);

it("finds what the run then finds, and nothing where no value is shared", async () => {
  const db = await open();
  const of = (index: string) => previewDuplicates(db, { model: "users", index });
  const none = { model: "users", duplicateCount: 0, examples: [] };
  expect(await of("byTag")).toEqual({ ...none, index: "byTag" });
  expect(await of("byId")).toEqual({ ...none, index: "byId" });
  const { indexes } = await migrate(db);
  expect(indexes.find(({ index }) => index === "byEmail")?.duplicateCount).toBe(expectedCount);
  expect(await rejection(of("byName"))).toMatchObject({ code: "KW_ARGUMENT_INVALID" });
});

it("compares rows as a planned migration leaves them", async () => {
  await (await createDatabase({ kv, models: { users: Plain } })).users.createMany({
    data: [
      { id: "1", email: "a", tags: [] },
      { id: "2", email: "b", tags: [] },
      { id: "3", email: "broken", tags: [] },
    ],
  });
  const to = schema.extend({ domain: z.string() });
  const Now = defineModel({
    ...base,
    schema: to,
    indexes: { byDomain: { key: "domain", unique: true } },
  });
  const up = (row: z.infer<typeof schema>) => {
    if (row.email === "broken") throw new Error("no domain");
    return { ...row, domain: "example.com" };
  };
  const migrations = [defineMigration({ model: Now, from: schema, to, up })];
  const db = await createDatabase({ kv, models: { users: Now }, migrations });
  expect(await previewDuplicates(db, { model: "users", index: "byDomain" })).toMatchObject({
    duplicateCount: 1,
    examples: [["1", "2"]],
  });
});
