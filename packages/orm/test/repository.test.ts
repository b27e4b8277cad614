import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { rowsOf } from "../src/codegen.js";
import { createDatabase, type Database, defineModel, type RowIssue } from "../src/index.js";
import { entriesOf, rejection, rejections, User, users } from "./user-model.js";

const places = {
  memory: { make: async () => ":memory:", remove: async () => undefined },
  disk: {
    make: () => mkdtemp(join(tmpdir(), "keywright-")),
    remove: (path: string) => rm(path, { recursive: true }),
  },
};

describe.each(Object.entries(places))("in %s", (_, place) => {
  let path: string;
  let kv: EmbeddedKv;
  let db: Database<{ users: typeof User }>;

  beforeEach(async () => {
    path = await place.make();
    kv = await openKv(path);
    db = await createDatabase({ kv, models: { users: User } });
  });
  afterEach(async () => {
    await kv.close();
    await place.remove(path);
  });

  describe("create", () => {
    it("generates ULIDs that sort in the order of creation", async () => {
      const ids: string[] = [];
      for (let i = 0; i < 50; i++) {
        const row = await db.users.create({ data: { ...users.ada, email: `a${i}@example.com` } });
        ids.push(row.id);
      }
      expect(ids).toEqual([...ids].sort());
      expect(new Set(ids).size).toBe(50);
    });

    it("keeps an id that is given, and refuses it a second time", async () => {
      const id = "01H76YTWK3YBV020S6MP69TBEQ";
      await db.users.create({ data: { id, ...users.ada } });
      const before = await entriesOf(kv);
      const error = await rejection(db.users.create({ data: { id, ...users.bob } }));
      expect(error).toMatchObject({
        code: "KW_UNIQUE_CONSTRAINT",
        model: "users",
        index: "primaryKey",
        fields: ["id"],
        value: [id],
        ownerId: id,
      });
      expect(await entriesOf(kv)).toEqual(before);
    });

    it("refuses a duplicate unique value, naming index, field, value and owner, and changes nothing", async () => {
      const ada = await db.users.create({ data: users.ada });
      const before = await entriesOf(kv);
      const duplicate = { ...users.bob, email: "ADA@example.com" };
      expect(await rejection(db.users.create({ data: duplicate }))).toMatchObject({
        name: "UniqueConstraintError",
        code: "KW_UNIQUE_CONSTRAINT",
        model: "users",
        index: "byEmail",
        fields: ["email"],
        value: ["ada@example.com"],
        ownerId: ada.id,
        retryable: false,
      });
      expect(await entriesOf(kv)).toEqual(before);
    });

    it("refuses a row that its schema refuses, with every issue and its path, and changes nothing", async () => {
      const data = { name: 1, email: "nobody", favoriteColor: "green" } as never;
      const error = await rejection(db.users.create({ data }));
      expect(error).toMatchObject({
        name: "RowInvalidError",
        code: "KW_ROW_INVALID",
        model: "users",
      });
      expect(error.issues).toEqual([
        expect.objectContaining({ path: ["name"], code: "invalid_type" }),
        expect.objectContaining({ path: ["email"], code: "invalid_format" }),
      ]);
      const [name, email] = error.issues as RowIssue[];
      expect(error.reason).toBe(`name: ${name?.message}; email: ${email?.message}`);
      expect(await entriesOf(kv)).toEqual([]);
    });

    it("lets one of many concurrent rows with a unique value in", async () => {
      const attempts = Array.from({ length: 20 }, (_, i) =>
        db.users.create({ data: { ...users.ada, name: `Ada ${i}` } }),
      );
      const results = await Promise.allSettled(attempts);
      const codes = results.flatMap((result) =>
        result.status === "rejected" ? [(result.reason as { code: string }).code] : [],
      );
      expect(codes).toEqual(Array.from({ length: 19 }, () => "KW_UNIQUE_CONSTRAINT"));
      expect(await entriesOf(kv)).toHaveLength(3);
    });
  });

  describe("findUnique", () => {
    it("finds by primary key and by unique index in any letter case", async () => {
      const ada = await db.users.create({ data: users.ada });
      expect(await db.users.findUnique({ where: { id: ada.id } })).toEqual(ada);
      expect(await db.users.findUnique({ where: { email: "aDa@eXample.com" } })).toEqual(ada);
      expect(await db.users.findUnique({ where: { email: "bob@example.com" } })).toBeNull();
      expect(await db.users.findUnique({ where: { id: "nobody" } })).toBeNull();
    });

    it("refuses fields that are neither, and suggests the index", async () => {
      const where = { name: "Ada" } as never;
      expect(await rejection(db.users.findUnique({ where }))).toMatchObject({
        code: "KW_QUERY_UNINDEXED",
        fields: ["name"],
        suggestion: 'byName: { key: "name", unique: true }',
      });
    });
  });

  describe("findMany", () => {
    beforeEach(async () => {
      for (let i = 0; i < 25; i++) {
        const favoriteColor = i % 5 === 0 ? "red" : "green";
        await db.users.create({
          data: { ...users.ada, email: `a${i}@example.com`, favoriteColor },
        });
      }
    });

    it("pages through an index without missing or repeating a row, also when rows come in between", async () => {
      const emails: string[] = [];
      let cursor: string | null = null;
      do {
        const page: { items: { email: string }[]; cursor: string | null } = await db.users.findMany(
          {
            where: { favoriteColor: "green" },
            take: 7,
            cursor,
          },
        );
        emails.push(...page.items.map((row) => row.email));
        cursor = page.cursor;
        const id =
          "00000000000000000000000000".slice(0, 24) + String(emails.length).padStart(2, "0");
        await db.users.create({
          data: { ...users.ada, id, email: `early${emails.length}@example.com` },
        });
      } while (cursor !== null);
      const expected = Array.from({ length: 25 }, (_, i) => i).filter((i) => i % 5 !== 0);
      expect(emails).toEqual(expected.map((i) => `a${i}@example.com`));
    });

    it("goes backwards, and ends the last page without a cursor", async () => {
      const where = { favoriteColor: "red" };
      const forward = await db.users.findMany({ where, take: 5 });
      expect(forward.items).toHaveLength(5);
      expect(forward.cursor).toBeNull();
      const backward = await db.users.findMany({ where, orderBy: { id: "desc" }, take: 3 });
      expect(backward.items).toEqual([...forward.items].reverse().slice(0, 3));
      const rest = await db.users.findMany({
        where,
        orderBy: { id: "desc" },
        cursor: backward.cursor,
      });
      expect(rest.items).toEqual([...forward.items].reverse().slice(3));
    });

    it("refuses a cursor of another query, or one that was changed", async () => {
      const { cursor } = await db.users.findMany({ where: { favoriteColor: "green" }, take: 1 });
      const others = [
        db.users.findMany({ where: { favoriteColor: "red" }, cursor }),
        db.users.findMany({
          where: { favoriteColor: "green" },
          orderBy: { favoriteColor: "desc" },
          cursor,
        }),
        db.users.findMany({ where: { favoriteColor: "green" }, cursor: `${cursor}x` }),
        db.users.findMany({ where: { favoriteColor: "green" }, cursor: `${cursor}=` }),
        db.users.findMany({ where: { favoriteColor: "green" }, cursor: "not a cursor" }),
      ];
      for (const error of await rejections(others)) expect(error.code).toBe("KW_CURSOR_INVALID");
    });

    it("reads the rows themselves in the order of their keys, and nothing that stands below one", async () => {
      const { items } = await db.users.findMany({ orderBy: { id: "asc" } });
      expect(items).toHaveLength(25);
      await kv.set(["users", items[3]!.id, "settings"], { dark: true });
      expect((await db.users.findMany({ orderBy: { id: "desc" } })).items).toEqual(items.reverse());
      const after = await db.users.findMany({ where: { id: { lt: items[20]!.id } } });
      expect(after.items.map(({ id }) => id)).toEqual(
        items
          .slice(21)
          .reverse()
          .map(({ id }) => id),
      );
    });

    it("refuses a take that is not a positive integer", async () => {
      for (const take of [0, -1, 1.5, Number.NaN]) {
        const error = await rejection(
          db.users.findMany({ where: { favoriteColor: "green" }, take }),
        );
        expect(error).toMatchObject({ code: "KW_ARGUMENT_INVALID", argument: "take" });
      }
    });

    it("refuses a query without conditions", async () => {
      expect((await rejection(db.users.findMany({} as never))).code).toBe("KW_QUERY_INVALID");
      const where = { favoriteColor: undefined } as never;
      expect((await rejection(db.users.findMany({ where }))).code).toBe("KW_QUERY_INVALID");
    });
  });

  describe("update", () => {
    it("moves the entries of the fields that change, and leaves the others alone", async () => {
      const ada = await db.users.create({ data: users.ada });
      const byColor = await kv.get(["users_by_favorite_color", "green", ada.id]);
      const updated = await db.users.update({
        where: { email: "ada@example.com" },
        data: { email: "Lovelace@example.com", age: 36 },
      });
      expect(updated).toEqual({ ...ada, email: "Lovelace@example.com", age: 36 });
      expect(await entriesOf(kv)).toEqual([
        { key: ["users", ada.id], value: updated },
        { key: ["users_by_email", "lovelace@example.com"], value: ada.id },
        { key: ["users_by_favorite_color", "green", ada.id], value: ada.id },
      ]);
      const untouched = await kv.get(["users_by_favorite_color", "green", ada.id]);
      expect(untouched.versionstamp).toBe(byColor.versionstamp);
    });

    it("leaves a field alone that is undefined", async () => {
      const { id } = await db.users.create({ data: users.bob });
      const data = { name: undefined, age: undefined };
      expect(await db.users.update({ where: { id }, data })).toEqual({ id, ...users.bob });
    });

    it("takes a change of letter case for the same unique value", async () => {
      const ada = await db.users.create({ data: users.ada });
      await db.users.update({ where: { id: ada.id }, data: { email: "ADA@EXAMPLE.COM" } });
      expect((await db.users.findUnique({ where: { email: "ada@example.com" } }))?.email).toBe(
        "ADA@EXAMPLE.COM",
      );
    });

    it("refuses a taken unique value, an invalid one, an unknown field, another id and a missing row", async () => {
      const ada = await db.users.create({ data: users.ada });
      await db.users.create({ data: users.bob });
      const before = await entriesOf(kv);
      const where = { id: ada.id };
      const update = (data: object) => rejection(db.users.update({ where, data: data as never }));
      expect(await update({ email: "BOB@example.com" })).toMatchObject({
        code: "KW_UNIQUE_CONSTRAINT",
        index: "byEmail",
      });
      expect(await update({ email: "nobody", age: 1.5 })).toMatchObject({
        code: "KW_ROW_INVALID",
        issues: [
          expect.objectContaining({ path: ["email"] }),
          expect.objectContaining({ path: ["age"] }),
        ],
      });
      for (const field of ["nmae", "constructor", "toString"]) {
        expect(await update({ [field]: "Ada" })).toMatchObject({ code: "KW_ROW_INVALID" });
      }
      expect(await update({ id: "01H76YTWK3YBV020S6MP69TBEQ" })).toMatchObject({
        code: "KW_PRIMARY_KEY_CHANGED",
        field: "id",
      });
      const missing = { id: "01H76YTWK3YBV020S6MP69TBEQ" };
      const error = await rejection(db.users.update({ where: missing, data: {} }));
      expect(error).toMatchObject({ code: "KW_ROW_NOT_FOUND", where: missing });
      expect(await entriesOf(kv)).toEqual(before);
    });

    it("loses none of many concurrent updates of one row", async () => {
      const ada = await db.users.create({ data: { ...users.ada, age: 0 } });
      const where = { id: ada.id };
      const fields = ["name", "email", "favoriteColor", "age"] as const;
      const values = { name: "Ada L.", email: "new@example.com", favoriteColor: "blue", age: 36 };
      await Promise.all(
        fields.map((field) => db.users.update({ where, data: { [field]: values[field] } })),
      );
      expect(await db.users.findUnique({ where })).toEqual({ id: ada.id, ...values });
      expect(await entriesOf(kv)).toHaveLength(3);
    });
  });

  describe("delete", () => {
    it("removes the row with all its entries and returns it", async () => {
      const ada = await db.users.create({ data: users.ada });
      expect(await db.users.delete({ where: { email: "ada@example.com" } })).toEqual(ada);
      expect(await entriesOf(kv)).toEqual([]);
      const error = await rejection(db.users.delete({ where: { id: ada.id } }));
      expect(error.code).toBe("KW_ROW_NOT_FOUND");
    });

    it("leaves no entry behind when the row changes while it is deleted", async () => {
      for (let round = 0; round < 20; round++) {
        const ada = await db.users.create({ data: users.ada });
        const where = { id: ada.id };
        await Promise.allSettled([
          db.users.update({
            where,
            data: { email: `new${round}@example.com`, favoriteColor: "blue" },
          }),
          db.users.delete({ where }),
          db.users.update({ where, data: { favoriteColor: "red" } }),
        ]);
        expect(await entriesOf(kv)).toEqual([]);
      }
    });
  });
});

describe("other models", () => {
  it("puts a changed row to the conditions of the whole schema, asynchronous ones too", async () => {
    const Stay = defineModel({
      name: "stays",
      schema: z
        .object({ id: z.string().refine(async (id) => id !== "taken"), from: z.int(), to: z.int() })
        .refine(({ from, to }) => from < to, { path: ["to"], error: "ends before it begins" }),
      primaryKey: "id",
    });
    const kv = await openKv();
    try {
      const { stays } = await createDatabase({ kv, models: { stays: Stay } });
      const taken = await rejection(stays.create({ data: { id: "taken", from: 1, to: 2 } }));
      expect(taken).toMatchObject({ code: "KW_ROW_INVALID", issues: [{ path: ["id"] }] });
      const stay = await stays.create({ data: { id: "1", from: 1, to: 5 } });
      const update = stays.update({ where: { id: "1" }, data: { from: 9 } });
      const issues = [{ path: ["to"], code: "custom", message: "ends before it begins" }];
      expect(await rejection(update)).toMatchObject({ code: "KW_ROW_INVALID", issues });
      expect(await entriesOf(kv)).toEqual([{ key: ["stays", "1"], value: stay }]);
      expect(await stays.update({ where: { id: "1" }, data: { from: 4 } })).toEqual({
        ...stay,
        from: 4,
      });
    } finally {
      await kv.close();
    }
  });

  it("keeps a composite primary key in order, and points with the array of its parts", async () => {
    const Member = defineModel({
      name: "members",
      schema: z.object({
        team: z.string(),
        number: z.bigint(),
        joined: z.date(),
        score: z.number(),
      }),
      primaryKey: ["team", "number"],
      indexes: { byScore: { key: ["team", "score"] }, byJoined: { key: "joined", unique: true } },
    });
    const kv = await openKv();
    try {
      const db = await createDatabase({ kv, models: { members: Member } });
      const joined = new Date("2026-01-02");
      const row = { team: "red", number: 7n, joined, score: -0 };
      await db.members.create({ data: row });
      expect(await entriesOf(kv)).toEqual([
        { key: ["members", "red", 7n], value: row },
        { key: ["members_by_joined", joined.getTime()], value: ["red", 7n] },
        { key: ["members_by_score", "red", 0, "red", 7n], value: ["red", 7n] },
      ]);
      expect(await db.members.findUnique({ where: { team: "red", number: 7n } })).toEqual(row);
      expect(await db.members.findUnique({ where: { joined } })).toEqual(row);
      const byScore = await db.members.findMany({
        where: { team: "red", score: { gte: 0, lt: 1 } },
      });
      expect(byScore.items).toEqual([row]);
      expect(
        (await db.members.findMany({ where: { team: "red", score: { gt: 0 } } })).items,
      ).toEqual([]);
      expect((await db.members.findMany({ where: { team: "red" } })).items).toEqual([row]);
    } finally {
      await kv.close();
    }
  });

  it("keeps a range within the type of its bounds, and finds nothing between bounds that cross", async () => {
    const Reading = defineModel({
      name: "readings",
      schema: z.object({ id: z.string(), value: z.union([z.number(), z.string(), z.bigint()]) }),
      primaryKey: "id",
      indexes: { byValue: { key: "value" } },
    });
    const kv = await openKv();
    try {
      const { readings } = await createDatabase({ kv, models: { readings: Reading } });
      for (const value of [1, 5, 9, "a", "b", 7n, Number.MAX_VALUE]) {
        await readings.create({ data: { id: String(value), value } });
      }
      const find = async (value: object) => {
        const { items } = await readings.findMany({ where: { value } as never });
        return items.map((item) => item.value);
      };
      expect(await find({ gte: 5 })).toEqual([5, 9, Number.MAX_VALUE]);
      expect(await find({ lt: 5 })).toEqual([1]);
      expect(await find({ gt: "a" })).toEqual(["b"]);
      expect(await find({ lte: 7n })).toEqual([7n]);
      expect(await find({ gt: 5, lt: 5 })).toEqual([]);
      expect(await find({ gt: 9, lt: 1 })).toEqual([]);
    } finally {
      await kv.close();
    }
  });

  it("refuses a primary key of more or fewer values than it has fields", async () => {
    const kv = await openKv();
    try {
      const db = await createDatabase({ kv, models: { users: User } });
      const rows = rowsOf(db, "users");
      const ada = await db.users.create({ data: users.ada });
      expect((await rejection(rows.delete({ where: {} }))).code).toBe("KW_QUERY_INVALID");
      const more = rejection(rows.delete({ where: { id: ada.id, more: "more" } }));
      expect((await more).code).toBe("KW_QUERY_INVALID");
      expect(await rows.findUnique({ where: { id: ada.id } })).toEqual(ada);
    } finally {
      await kv.close();
    }
  });

  it("refuses two models whose entries would stand in the same place", async () => {
    const Other = defineModel({
      name: "users_by_email",
      schema: z.object({ id: z.string() }),
      primaryKey: "id",
    });
    const kv = await openKv();
    try {
      const error = await rejection(createDatabase({ kv, models: { users: User, other: Other } }));
      expect(error).toMatchObject({
        code: "KW_MODEL_INVALID",
        model: "users_by_email",
        at: "name",
      });
    } finally {
      await kv.close();
    }
  });
});
