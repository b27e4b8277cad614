import { openKv } from "@keywright/core";
import { afterEach, describe, expect, it } from "vitest";
import * as z from "zod";
import * as mini from "zod/mini";
import * as z3 from "zod/v3";
import { compileModel } from "../src/codegen.js";
import { belongsTo, createDatabase, defineModel, desc, hasMany } from "../src/index.js";

const open: { close(): void }[] = [];
afterEach(() => {
  for (const kv of open.splice(0)) kv.close();
});

const transformed = z.string().transform((text) => text || null);
const address = z.object({ street: z.string() });
const schema = z.object({
  id: z.string(),
  name: z.string(),
  tags: z.array(z.string()),
  home: address,
});
const define =
  (part: object, fields: z.ZodObject = schema) =>
  () =>
    defineModel({ name: "people", schema: fields, primaryKey: "id", ...part } as never);
const defineIndex = (index: unknown, fields?: z.ZodObject) =>
  define({ indexes: { by: index } }, fields);
const withField = (field: z.ZodType) => z.object({ id: z.string(), field });
const at = (place: string) =>
  expect.objectContaining({ code: "KW_MODEL_INVALID", model: "people", at: place });

const node = z.object({
  get next() {
    return node;
  },
});
const outsideKeys: Record<string, z.ZodType> = {
  object: address,
  record: z.record(z.string(), z.string()),
  map: z.map(z.string(), z.string()),
  set: z.set(z.string()),
  array: z.array(z.string()),
  tuple: z.tuple([z.string(), z.number()]),
  symbol: z.symbol(),
  optional: address.optional(),
  nullable: address.nullable(),
  "union with null": z.union([address, z.null()]),
  "union of such": z.union([address, z.array(z.string())]),
  default: address.default({ street: "" }),
  prefault: address.prefault({ street: "" }),
  catch: address.catch({ street: "" }),
  readonly: address.readonly(),
  nonoptional: z.nonoptional(address.optional()),
  lazy: z.lazy(() => address),
  pipe: z
    .string()
    .pipe(z.transform((street) => ({ street })))
    .pipe(address),
  codec: z.codec(z.string(), address, {
    decode: (street) => ({ street }),
    encode: ({ street }) => street,
  }),
  intersection: z.intersection(address, z.object({ city: z.string() })),
  "object that contains itself": node,
};
const insideKeys: Record<string, z.ZodType> = {
  string: z.string(),
  enum: z.enum(["a", "b"]),
  literal: z.literal(["a", 1]),
  template: z.templateLiteral(["a", z.number()]),
  int: z.int(),
  bigint: z.bigint(),
  boolean: z.stringbool(),
  date: z.date().nullish(),
  bytes: z.instanceof(Uint8Array),
  any: z.any(),
  unknown: z.unknown(),
  custom: z.custom<string>((value) => typeof value === "string"),
  transform: z.string().transform((text) => text.length),
  preprocess: z.preprocess(String, z.string()),
  "pipe from an object": z
    .pipe(
      address,
      z.transform(({ street }) => street),
    )
    .pipe(z.string()),
  "union with a possible kind": z.union([z.string(), address]),
  success: z.success(address),
  brand: z.string().brand<"Brand">(),
};

describe("an index", () => {
  it.each(Object.entries(outsideKeys))("refuses a field that no key holds: %s", (_, field) => {
    expect(defineIndex({ key: "field" }, withField(field))).toThrow(at("indexes.by.key"));
    expect(defineIndex({ key: ["id", "field"] }, withField(field))).toThrow(at("indexes.by.key"));
    expect(defineIndex({ key: desc("field") }, withField(field))).toThrow(at("indexes.by.key"));
    expect(define({ primaryKey: "field" }, withField(field))).toThrow(at("primaryKey"));
    expect(define({ primaryKey: ["id", "field"] }, withField(field))).toThrow(at("primaryKey"));
  });

  it.each(Object.entries(insideKeys))("takes a field that a key may hold: %s", (_, field) => {
    expect(defineIndex({ key: "field" }, withField(field))).not.toThrow();
    expect(defineIndex({ key: desc("field") }, withField(field))).not.toThrow();
  });

  it("takes with each whatever may be an array of what a key holds", () => {
    const each = (field: z.ZodType, key: unknown = "field") =>
      defineIndex({ key, each: true }, withField(field));
    expect(each(z.array(z.string()).nullish())).not.toThrow();
    expect(each(z.union([z.array(z.string()), z.null()]))).not.toThrow();
    expect(each(z.lazy(() => z.array(z.string())))).not.toThrow();
    expect(each(z.tuple([z.string(), z.number()]))).not.toThrow();
    expect(each(z.string().transform((text) => text.split(" ")))).not.toThrow();
    expect(each(z.array(z.union([z.string(), address])))).not.toThrow();
    expect(each(z.array(z.string()), ["id", "field"])).not.toThrow();
    expect(each(z.array(address))).toThrow(at("indexes.by.key"));
    expect(each(z.array(z.array(z.string())))).toThrow(at("indexes.by.key"));
    expect(each(z.tuple([address]))).toThrow(at("indexes.by.key"));
    expect(each(z.string())).toThrow(at("indexes.by.each"));
    expect(each(z.set(z.string()))).toThrow(at("indexes.by.each"));
    expect(each(z.array(z.string()), desc("field"))).toThrow(at("indexes.by.each"));
    const two = z.object({ id: z.string(), a: z.array(z.string()), b: z.array(z.string()) });
    expect(defineIndex({ key: ["a", "b"], each: true }, two)).toThrow(at("indexes.by.each"));
    const mixed = z.object({ id: z.string(), a: z.array(z.string()), b: address });
    expect(defineIndex({ key: ["a", "b"], each: true }, mixed)).toThrow(at("indexes.by.key"));
  });

  it("refuses options that are none, or not what they have to be", () => {
    expect(defineIndex({ key: "name", uniqe: true })).toThrow(
      expect.objectContaining({
        at: "indexes.by.uniqe",
        reason: 'there is no such option; did you mean "unique"?',
      }),
    );
    for (const option of ["unique", "each", "count"]) {
      expect(defineIndex({ key: "name", [option]: "yes" })).toThrow(at(`indexes.by.${option}`));
      expect(defineIndex({ key: "name", [option]: undefined })).not.toThrow();
    }
    for (const prefix of ["", 5, null]) {
      expect(defineIndex({ key: "name", prefix })).toThrow(at("indexes.by.prefix"));
    }
    expect(defineIndex({ key: [] })).toThrow(at("indexes.by.key"));
    expect(defineIndex({})).toThrow(at("indexes.by.key"));
    for (const index of [null, "name", undefined]) {
      expect(defineIndex(index)).toThrow(at("indexes.by"));
    }
  });

  it("is not named as the primary key is, nor nothing", () => {
    expect(define({ indexes: { primaryKey: { key: "name" } } })).toThrow(at("indexes.primaryKey"));
    expect(define({ indexes: { "": { key: "name" } } })).toThrow(at("indexes."));
  });
});

describe("a model", () => {
  it("refuses a class whose instances are read as those of another", () => {
    class Temperature extends Date {}
    const base = { name: "things", primaryKey: "id" } as const;
    const define = (type: z.ZodType) =>
      defineModel({ ...base, schema: z.object({ id: z.string(), a: type }) });
    for (const [type, stored] of [
      [z.instanceof(Buffer), "Uint8Array"],
      [z.array(z.instanceof(Buffer)).optional(), "Uint8Array"],
      [z.map(z.string(), z.object({ at: z.instanceof(Temperature) })), "Date"],
      [z.any().pipe(z.instanceof(Buffer)), "Uint8Array"],
    ] as const) {
      expect(() => define(type)).toThrow(`write z.instanceof(${stored})`);
    }
    const hex = z.instanceof(Buffer).transform((bytes) => bytes.toString("hex"));
    for (const type of [z.instanceof(Uint8Array), z.instanceof(Date), z.instanceof(URL), hex]) {
      expect(() => define(type)).not.toThrow();
    }
  });

  it("refuses options that are none, or not what they have to be", () => {
    expect(define({ primaryKeys: "id" })).toThrow(
      expect.objectContaining({
        at: "primaryKeys",
        reason: 'there is no such option; did you mean "primaryKey"?',
      }),
    );
    expect(define({ count: 1 })).toThrow(at("count"));
    expect(define({ live: "yes" })).toThrow(at("live"));
    expect(define({ indexes: ["name"] })).toThrow(at("indexes"));
    expect(define({ indexes: null })).toThrow(at("indexes"));
    expect(define({ relations: ["name"] })).toThrow(at("relations"));
    expect(() => defineModel(undefined as never)).toThrow(
      expect.objectContaining({ code: "KW_MODEL_INVALID" }),
    );
  });

  it("can use every name but __proto__", async () => {
    const named = (name: string, value: unknown): object =>
      Object.defineProperty({}, name, { value, enumerable: true });
    const proto = "__proto__";
    const refused = [
      [define({ name: proto }), "name"],
      [define({ prefix: proto }), "prefix"],
      [define({}, schema.extend(named(proto, z.int()) as never)), `schema.${proto}`],
      [define({ indexes: named(proto, { key: "name" }) }), `indexes.${proto}`],
      [define({ relations: named(proto, belongsTo("people", "name")) }), `relations.${proto}`],
    ] as const;
    for (const [make, place] of refused)
      expect(make).toThrow(expect.objectContaining({ code: "KW_MODEL_INVALID", at: place }));

    for (const name of ["constructor", "toString", "then"]) {
      const kv = await openKv();
      open.push(kv);
      const model = defineModel({
        name,
        schema: z.object({ id: z.string(), ...named(name, z.int()) }),
        primaryKey: "id",
        indexes: named(name, { key: name, count: true }),
        relations: { [`${name}Of`]: belongsTo(name, "id") },
      } as never);
      const options = { kv, models: named(name, model) } as never;
      // biome-ignore lint/suspicious/noExplicitAny: the types know no such names.
      const db: any = await createDatabase(options);
      await db[name].create({ data: { id: "1", [name]: 5 } });
      const { items } = await db[name].findMany({ where: { [name]: 5 } });
      expect(items).toEqual([{ id: "1", [name]: 5 }]);
      expect(await db[name].groupBy({ by: [name], count: true })).toEqual([
        { [name]: 5, count: 1 },
      ]);
      await expect(createDatabase({ kv, models: named(proto, model) } as never)).rejects.toThrow(
        "models cannot have the name __proto__",
      );
    }
  });

  it("shares no prefix with a model or an index that only the database has", async () => {
    const kv = await openKv();
    open.push(kv);
    const own = defineModel({
      name: "notes",
      schema: z.object({ id: z.string(), n: z.int() }),
      primaryKey: "id",
      max: ["n"],
      indexes: { byN: { key: "n" } },
    });
    await createDatabase({ kv, models: { own } });
    const other = (part: object) => {
      const definition = { name: "other", schema, primaryKey: "id", ...part } as never;
      return createDatabase({ kv, models: { other: defineModel(definition) } } as never);
    };
    const hidden = { name: { key: "name", prefix: "notes_by_n" } };
    await expect(other({ name: "notes_by_n" })).rejects.toMatchObject({ at: "name" });
    await expect(other({ prefix: "notes_by_n" })).rejects.toMatchObject({ at: "prefix" });
    await expect(other({ indexes: hidden })).rejects.toMatchObject({ at: "indexes.name" });
    await expect(other({ indexes: { notes: { key: "name", prefix: "notes" } } })).rejects.toThrow(
      'its keys would begin with "notes", as those of the model notes that the database has',
    );
    await other({});
    // The same prefix is the same model under another name.
    await other({ name: "renamed", prefix: "notes" });
  });

  it("refuses relations that are none", () => {
    const relation = (value: unknown) => define({ relations: { team: value } });
    const nones = [
      null,
      "teams",
      {},
      { kind: "has", model: "teams", fields: ["name"] },
      { kind: "hasMany", model: "teams", fields: "name" },
      { kind: "hasMany", model: "", fields: ["name"] },
      { kind: "belongsTo", model: "teams", fields: [], onDelete: "restrict" },
      { kind: "manyToMany", model: "teams", from: ["a"], to: ["b"] },
    ];
    for (const none of nones) expect(relation(none)).toThrow(at("relations.team"));
    const cascades = { kind: "belongsTo", model: "teams", fields: ["name"], onDelete: "CASCADE" };
    expect(relation(cascades)).toThrow(
      expect.objectContaining({
        at: "relations.team.onDelete",
        reason: 'it must be "restrict", "cascade" or "setNull"',
      }),
    );
    expect(relation(belongsTo("teams", "name"))).not.toThrow();
    expect(relation(hasMany("teams", "memberId"))).not.toThrow();
  });

  it("lets a reference be set to null only where the schema takes null", () => {
    const refers = (field: z.ZodType) =>
      define(
        { relations: { team: belongsTo("teams", "field", { onDelete: "setNull" }) } },
        withField(field),
      );
    expect(refers(z.string().nullable())).not.toThrow();
    expect(refers(transformed.pipe(z.string().nullable()))).toThrow(at("relations.team"));
    expect(refers(z.any().transform((value): string => value.trim()))).toThrow(
      at("relations.team"),
    );
  });
});

describe("what a row may lack", () => {
  const optional = (field: z.ZodType) => {
    const definition = { name: "m", schema: withField(field), primaryKey: "id" };
    const model = defineModel({ ...definition, indexes: { by: { key: "field" } } } as never);
    return compileModel(model).optionalFields.has("field");
  };
  const refuse = () => {
    throw new Error("no");
  };

  it.each<[string, z.ZodType]>([
    ["optional", z.string().optional()],
    ["nullable", z.string().nullable()],
    ["nullable with a default", z.string().nullable().default("")],
    ["a union with null", z.union([z.string(), z.null()])],
    ["an optional option of a union", z.union([z.string().optional(), z.number()])],
    ["lazily nullable", z.lazy(() => z.string().nullable())],
    [
      "a pipe to what may be null",
      z
        .string()
        .transform((s) => s || null)
        .pipe(z.string().nullable()),
    ],
    [
      "a transform that keeps null",
      z
        .string()
        .nullable()
        .transform((s) => s?.trim() ?? null),
    ],
    ["a transform that takes time", z.any().transform(async (s: string) => s.trim())],
    ["any", z.any()],
  ])("is a field that is %s", (_, field) => {
    expect(optional(field)).toBe(true);
  });

  it.each<[string, z.ZodType]>([
    ["a string", z.string()],
    ["defaulted", z.string().optional().default("")],
    ["prefaulted", z.string().optional().prefault("")],
    ["caught", z.string().catch("")],
    ["nonoptional", z.nonoptional(z.string().optional())],
    ["coerced", z.coerce.string()],
    ["any but nothing", z.any().refine((value) => typeof value === "string")],
    [
      "a transform that fills in",
      z
        .string()
        .nullable()
        .transform((s) => s ?? "none"),
    ],
    ["a transform that throws on null", z.any().transform((s: string) => s.trim())],
    ["a transform that always throws", z.any().transform(refuse)],
    ["a transform of which one cannot know", z.string().transform((s) => s || null)],
    ["checked by what throws on null", z.custom<string>((value) => (value as string).length > 0)],
    ["a pipe to a string", z.string().nullable().pipe(z.string())],
  ])("is not a field that is %s", (_, field) => {
    expect(optional(field)).toBe(false);
  });
});

describe("a row that lacks what an index needs", () => {
  async function openPlayers(nick: z.ZodType<string | null>) {
    const Player = defineModel({
      name: "players",
      schema: z.object({ id: z.string(), team: z.string(), note: z.string().optional(), nick }),
      primaryKey: "id",
      indexes: { byTeamAndNick: { key: ["team", "nick"] } },
    });
    const kv = await openKv();
    open.push(kv);
    const db = await createDatabase({ kv, models: { players: Player } });
    return { kv, db };
  }
  const issue = expect.objectContaining({
    code: "KW_ROW_INVALID",
    issues: [
      expect.objectContaining({
        path: ["nick"],
        message: expect.stringContaining("byTeamAndNick"),
      }),
    ],
  });

  it("is refused where a transform made nothing, so that no query misses it", async () => {
    const { db } = await openPlayers(transformed);
    const row = { id: "1", team: "red", nick: "ada" };
    await db.players.create({ data: row });
    await expect(db.players.create({ data: { ...row, id: "2", nick: "" } })).rejects.toEqual(issue);
    await expect(db.players.update({ where: { id: "1" }, data: { nick: "" } })).rejects.toEqual(
      issue,
    );
    const { items } = await db.players.findMany({ where: { team: "red" } } as never);
    expect(items).toEqual((await db.players.scan()).items);
    expect(items).toEqual([row]);
  });

  it("is stored where the schema says that there may be none", async () => {
    for (const nick of [transformed.nullable(), transformed.pipe(z.string().nullable())]) {
      const { db } = await openPlayers(nick);
      const row = await db.players.create({ data: { id: "1", team: "red", nick: "" } });
      expect(row.nick).toBeNull();
      const query = { where: { team: "red" } } as never;
      await expect(db.players.findMany(query)).rejects.toMatchObject({
        code: "KW_QUERY_UNINDEXED",
      });
    }
  });

  it("may be changed elsewhere where it was written by hand", async () => {
    const { kv, db } = await openPlayers(transformed);
    await kv.set(["players", "1"], { id: "1", team: "red", nick: null });
    await db.players.update({ where: { id: "1" }, data: { note: "by hand" } });
    await db.players.update({ where: { id: "1" }, data: { nick: "ada" } });
    const found = await db.players.findMany({ where: { team: "red", nick: "ada" } });
    expect(found.items).toEqual([{ id: "1", team: "red", nick: "ada", note: "by hand" }]);
  });
});

describe("a schema of another version of Zod", () => {
  const zod4 = "it is a schema of Zod 3, and Keywright requires Zod 4";
  const refused = [
    { name: "an object of zod/v3", schema: z3.object({ id: z3.string() }), at: "schema", zod4 },
    { name: "another schema of zod/v3", schema: z3.string(), at: "schema", zod4 },
    {
      name: "a field of zod/v3",
      schema: z.object({ id: z3.string() as never }),
      at: "schema.id",
      zod4,
    },
    {
      name: "an object of zod/mini",
      schema: mini.object({ id: mini.string() }),
      at: "schema",
      zod4: "it is an object of zod/mini",
    },
  ];
  it.each(refused)("is refused: $name", ({ schema, at: place, zod4: text }) => {
    const error = expect.objectContaining({
      code: "KW_MODEL_INVALID",
      at: place,
      reason: expect.stringContaining(text) as string,
    });
    expect(define({ schema })).toThrow(error);
  });

  it("can have fields of zod/mini", () => {
    const schema = z.object({ id: z.string(), age: mini.optional(mini.number()) });
    expect(define({ schema, indexes: { byAge: { key: "age" } } })).not.toThrow();
  });
});
