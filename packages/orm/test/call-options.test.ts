import { openKv } from "@keywright/core";
import { describe, expect, it } from "vitest";
import { createDatabase, defineModel } from "../src/index.js";
import { rejection, User, users, withUsers } from "./user-model.js";

/** The methods as a program without types calls them. */
type Untyped = Record<string, (argument?: unknown) => Promise<unknown>>;

describe("a call without types", () => {
  it.each([
    ["findMany", { where: { favoriteColor: "green" }, skip: 1 }, "skip"],
    ["findMany", { where: { favoriteColor: "green" }, limit: 1 }, "limit"],
    ["count", { take: 1 }, "take"],
    ["deleteMany", { where: { favoriteColor: "green" }, fliter: () => false }, "fliter"],
    ["update", { where: { id: "1" }, data: {}, ifversion: "" }, "ifversion"],
    ["findUnique", { where: { id: "1" }, select: ["id"] }, "select"],
    ["findUnique", { where: { id: "1" }, select: { nope: true } }, "select.nope"],
    ["create", { data: users.bob, include: { nope: true } }, "include.nope"],
    ["findUnique", undefined, "argument"],
    ["findUnique", null, "argument"],
    ["findUnique", {}, "where"],
    ["findMany", undefined, "argument"],
    ["create", {}, "data"],
    ["createMany", { data: {} }, "data"],
  ])("of %s with %j is refused", (method, argument, name) =>
    withUsers(async (db) => {
      await db.users.create({ data: users.ada });
      const call = (db.users as unknown as Untyped)[method]?.bind(db.users);
      const error = await rejection(Promise.resolve().then(() => call?.(argument)));
      if (name === "data" && method === "create") {
        expect(error).toMatchObject({ code: "KW_ROW_INVALID", operation: method });
      } else {
        expect(error).toMatchObject({ code: "KW_ARGUMENT_INVALID", argument: name });
        expect(error.operation).toBe(method);
      }
      expect(await db.users.count()).toBe(1);
    }),
  );

  it("that iterates or watches names its mistake too", () =>
    withUsers(async (db) => {
      const untyped = db.users as unknown as Record<string, (argument?: unknown) => never>;
      const iterate = async () => {
        const rows = untyped.findMany?.() as unknown as AsyncIterable<unknown> | undefined;
        for await (const _ of rows ?? []);
      };
      const refusal = { code: "KW_ARGUMENT_INVALID", argument: "argument" };
      expect(await rejection(iterate())).toMatchObject(refusal);
      expect(() => untyped.watch?.()).toThrow(expect.objectContaining(refusal));
      expect(() => untyped.watchMany?.()).toThrow(expect.objectContaining(refusal));
    }));
});

describe("createDatabase", () => {
  it.each([
    ["argument", undefined],
    ["kv", { models: { users: User } }],
    ["models", { kv: {} }],
    ["models.users", { models: { users: { name: "users" } } }],
    ["hooks.user", { models: { users: User }, hooks: { user: {} } }],
    ["onQuery", { models: { users: User }, onQuery: true }],
    ["maxReads", { models: { users: User }, maxReads: Number.NaN }],
    ["maxReads", { models: { users: User }, maxReads: -1 }],
  ])("names %s that it cannot take", async (argument, options) => {
    const kv = await openKv();
    try {
      const given = options && (argument === "kv" ? options : { ...options, kv });
      expect(await rejection(createDatabase(given as never))).toMatchObject({
        code: "KW_ARGUMENT_INVALID",
        argument,
      });
    } finally {
      await kv.close();
    }
  });
});

it("a model is named transaction in a database at its peril", async () => {
  const kv = await openKv();
  try {
    const model = defineModel({ name: "t", schema: User.schema, primaryKey: "id" });
    const opened = createDatabase({ kv, models: { transaction: model } });
    expect(await rejection(opened)).toMatchObject({ code: "KW_MODEL_INVALID" });
  } finally {
    await kv.close();
  }
});
