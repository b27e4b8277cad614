import { coreErrorCodes, KeywrightError, openKv } from "@keywright/core";
import { expect, it } from "vitest";
import * as z from "zod";
import { statusByCode } from "../src/errors/http-status.js";
import { createDatabase, defineModel, httpStatusOf, ormErrorCodes } from "../src/index.js";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.string(), tenant: z.string(), email: z.email() }),
  primaryKey: "id",
  indexes: { byEmail: { key: ["tenant", "email"], unique: true } },
});

const ada = { id: "ada", tenant: "a", email: "ada@example.com" };

async function statusOf(call: () => PromiseLike<unknown>): Promise<number> {
  try {
    await call();
  } catch (error) {
    return httpStatusOf(error);
  }
  return 200;
}

it("has a status for each code of the core and the ORM, and for no other", () => {
  const codes = [...coreErrorCodes, ...ormErrorCodes];
  expect(Object.keys(statusByCode).sort()).toEqual([...codes].sort());
});

it("tells the mistakes of a client from each other", async () => {
  await using kv = await openKv();
  const { users } = await createDatabase({ kv, models: { users: User } });
  await users.create({ data: ada });
  const where = { id: "ada" };
  const orderBy = { id: "asc" } as const;
  const { versionstamp } = await users.findUniqueOrThrow({ where, withVersionstamp: true });
  await users.update({ where, data: { email: "lovelace@example.com" } });

  const create = (data: unknown) => statusOf(() => users.create({ data: data as typeof ada }));
  expect(await create({ ...ada, email: "ada" })).toBe(400);
  expect(await statusOf(() => users.findMany({ orderBy, cursor: "changed", take: 1 }))).toBe(400);
  expect(await statusOf(() => users.findMany({ orderBy, take: -1 }))).toBe(400);
  expect(await statusOf(() => users.delete({ where: { id: "nobody" } }))).toBe(404);
  expect(await create(ada)).toBe(409);
  expect(await create({ ...ada, id: "other", email: "lovelace@example.com" })).toBe(409);
  expect(await statusOf(() => users.update({ where, data: {}, ifVersion: versionstamp }))).toBe(
    409,
  );
  expect(await statusOf(() => users.findMany({ where: { email: "x" } as never }))).toBe(500);
});

it("answers 403 to a write outside of a scope, and 503 after the database is closed", async () => {
  const kv = await openKv();
  const db = await createDatabase({ kv, models: { users: User } });
  const scoped = db.scope({ tenant: "b" });
  expect(await statusOf(() => scoped.users.create({ data: ada as never }))).toBe(403);
  await kv.close();
  expect(await statusOf(() => db.users.findUnique({ where: { id: "ada" } }))).toBe(503);
});

it("answers 503 if the call may be repeated, and 500 to everything that it does not know", () => {
  const retryable = new KeywrightError("KW_VERSION_CONFLICT", "", { retryable: true });
  expect(httpStatusOf(retryable)).toBe(503);
  expect(httpStatusOf(new KeywrightError("KW_OTHER", "", { retryable: true }))).toBe(503);
  expect(httpStatusOf(new KeywrightError("KW_OTHER", ""))).toBe(500);
  expect(httpStatusOf(new KeywrightError("KW_COMMIT_AMBIGUOUS", ""))).toBe(500);
  expect(httpStatusOf(new Error("toString"))).toBe(500);
  expect(httpStatusOf(undefined)).toBe(500);
});
