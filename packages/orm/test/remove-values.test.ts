import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel, migrate } from "../src/index.js";
import { formatPlan, planMigration } from "../src/migrate.js";
import { rejection } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

const id = z.string();
const profile = z.object({ city: z.string(), zip: z.string() });
const before = z.object({ id, name: z.string(), ssn: z.string(), profile });
const after = z.object({ id, name: z.string(), profile: profile.omit({ zip: true }) });
const userOf = <S extends z.ZodObject<{ id: z.ZodString; name: z.ZodString }>>(schema: S) =>
  defineModel({
    name: "users",
    schema: schema as z.ZodObject<{ id: z.ZodString; name: z.ZodString }>,
    primaryKey: "id",
    indexes: { byName: { key: "name" }, byCopy: { key: ["name", "id"], store: "copy" } },
  });
const User = userOf(after);

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

const open = async (schema: Parameters<typeof userOf>[0]) =>
  await createDatabase({ kv, models: { users: userOf(schema) } });
const dataOf = (i: number) => ({
  ...{ id: `u${i}`, name: "Ada", ssn: `secret ${i}` },
  profile: { city: "Rome", zip: `secret ${i}` },
});

/** Returns a database that accepted the removal of two fields, and one program with each schema. */
async function removedFields(rows = 3) {
  const old = await open(before);
  await old.users.createMany({ data: Array.from({ length: rows }, (_, i) => dataOf(i)) as never });
  const db = await open(after);
  expect((await migrate(db, { accept: true })).status).toBe("done");
  return { old, db };
}

async function secretKeys(): Promise<unknown[]> {
  const keys: unknown[] = [];
  for await (const { key, value } of kv.list({ prefix: [] })) {
    if (JSON.stringify(value ?? null, (_, v) => (typeof v === "bigint" ? 0 : v)).includes("secret"))
      keys.push(key);
  }
  return keys;
}

describe("the values of removed fields", () => {
  it("are offered for removal, and only those that were named are removed", async () => {
    const { db } = await removedFields();
    const plan = await planMigration(db);
    expect(plan).toMatchObject({ isEmpty: true, isBreaking: false });
    expect(plan.leftValues).toEqual([{ model: "users", fields: ["profile.*", "ssn"] }]);
    expect(formatPlan(plan, { columns: 300 })).toContain(
      'Rows of users may still hold values of removed parts of profile, ssn. To remove them: removeValues: ["users"], or in the command --remove-values users.',
    );
    expect((await migrate(db, { accept: true })).status).toBe("done");
    expect(await secretKeys()).toHaveLength(6);
    const named = await planMigration(db, { removeValues: ["users"] });
    expect(named.steps).toMatchObject([{ id: "users: remove-values", class: "breaking" }]);
    expect(named.leftValues).toEqual([]);
    const misnamed = await rejection(migrate(db, { removeValues: ["ssn"] }));
    expect(misnamed).toMatchObject({ code: "KW_ARGUMENT_INVALID", argument: "removeValues" });
  });

  it("are removed from rows and from copies of rows in indexes", async () => {
    const { db } = await removedFields();
    await db.users.update({ where: { id: "u1" }, data: { name: "Bo" } });
    expect(await secretKeys()).toHaveLength(6);
    const untouched = { id: "u9", name: "Cy", profile: { city: "Bonn" } };
    await db.users.create({ data: untouched });
    const { versionstamp } = await kv.get(["users", "u9"]);
    expect((await migrate(db, { removeValues: ["users"] })).status).toBe("done");
    expect(await secretKeys()).toEqual([]);
    expect((await kv.get(["users", "u9"])).versionstamp).toBe(versionstamp);
    expect((await kv.get(["users", "u0"])).value).toEqual({
      ...{ id: "u0", name: "Ada", profile: { city: "Rome" } },
    });
    expect(await planMigration(db)).toMatchObject({ isEmpty: true, leftValues: [] });
    expect((await migrate(db, { removeValues: ["users"] })).plan.steps).toEqual([]);
    await expectIndexesToMatch(kv, User);
  });

  it("can be removed in the run that removes the fields", async () => {
    const old = await open(before);
    await old.users.create({ data: dataOf(1) as never });
    const db = await open(after);
    expect((await migrate(db, { removeValues: ["users"] })).status).toBe("refused");
    const accept = ["users.ssn: remove-field", "users.profile: change-field"];
    const result = await migrate(db, { accept, removeValues: ["users"] });
    expect(result.status).toBe("done");
    expect(await secretKeys()).toEqual([]);
  });

  it("are removed by the next run if one was stopped, and by updates before it", async () => {
    const { db } = await removedFields(700);
    const stop = new AbortController();
    const stopped = await migrate(db, {
      removeValues: ["users"],
      signal: stop.signal,
      onProgress: ({ phase, done }) => {
        if (phase === "transforming" && done > 0) stop.abort();
      },
    });
    expect(stopped.status).toBe("stopped");
    expect((await secretKeys()).length).toBeGreaterThan(100);
    const [step, ...others] = (await planMigration(db)).steps;
    expect(others).toEqual([]);
    expect(step?.reason).toContain("The removal of the values of removed parts of profile, ssn");
    await db.users.update({ where: { id: "u99" }, data: { name: "Bo" } });
    expect((await kv.get(["users", "u99"])).value).toEqual({
      ...{ id: "u99", name: "Bo", profile: { city: "Rome" } },
    });
    expect((await migrate(await open(after))).status).toBe("done");
    expect(await secretKeys()).toEqual([]);
    expect(await db.users.count()).toBe(700);
    await expectIndexesToMatch(kv, User);
  });

  it("are not read by old programs that need them, from the beginning of the removal", async () => {
    const { db } = await removedFields();
    const where = { id: "u1" };
    expect(await (await open(before)).users.findUnique({ where })).toEqual(dataOf(1));
    const stop = new AbortController();
    const onProgress = ({ phase }: { phase: string }) => phase === "transforming" && stop.abort();
    await migrate(db, { removeValues: ["users"], signal: stop.signal, onProgress });
    const refused = { code: "KW_STALE_SCHEMA" };
    expect(await rejection((await open(before)).users.findUnique({ where }))).toMatchObject(
      refused,
    );
    await migrate(db);
    expect(await rejection((await open(before)).users.findUnique({ where }))).toMatchObject(
      refused,
    );
  });

  it("are not those of a field that the model has again", async () => {
    await removedFields();
    const again = await open(after.extend({ ssn: z.string().optional() }));
    await again.users.update({ where: { id: "u1" }, data: { name: "Bo" } });
    expect((await planMigration(again)).leftValues).toEqual([
      { model: "users", fields: ["profile.*"] },
    ]);
    expect((await migrate(again, { removeValues: ["users"] })).status).toBe("done");
    expect((await kv.get(["users", "u1"])).value).toEqual({
      ...{ id: "u1", name: "Bo", ssn: "secret 1", profile: { city: "Rome" } },
    });
  });

  it("do not come back in a field that is added while they are removed", async () => {
    const { db } = await removedFields();
    const stop = new AbortController();
    const onProgress = ({ phase }: { phase: string }) => phase === "transforming" && stop.abort();
    await migrate(db, { removeValues: ["users"], signal: stop.signal, onProgress });
    const again = await open(after.extend({ ssn: z.number().optional() }));
    const rows = (await again.users.scan()).items;
    expect(rows.map((row) => Object.keys(row))).toEqual(rows.map(() => ["id", "name", "profile"]));
    expect((await migrate(again)).status).toBe("done");
    expect(await secretKeys()).toEqual([]);
  });

  it("are values of rows whose schema allows any field", async () => {
    await (await open(before)).users.create({ data: dataOf(1) as never });
    const loose = await open(z.looseObject({ id, name: z.string(), profile }));
    expect((await migrate(loose, { accept: true })).status).toBe("done");
    expect((await planMigration(loose)).leftValues).toEqual([]);
    expect((await migrate(loose, { removeValues: ["users"] })).plan.steps).toEqual([]);
    expect(await loose.users.findUnique({ where: { id: "u1" } })).toEqual(dataOf(1));
  });
});
