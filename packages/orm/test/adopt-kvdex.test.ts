import { serialize } from "node:v8";
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import { type EmbeddedKv, type KvKeyPart, openKv } from "@keywright/core";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { adopt } from "../src/change/adopt/adopt.js";
import { jsonOf, valueOfJson } from "../src/change/adopt/source/kvdex-json.js";
import { kvdexLayout } from "../src/change/adopt/source/kvdex-layout.js";
import { createDatabase, defineModel } from "../src/index.js";
import { readOnlyKv } from "./read-only-kv.js";
import { entriesOf, rejection } from "./user-model.js";

let old: EmbeddedKv;
let kv: EmbeddedKv;

beforeEach(async () => {
  old = await openKv();
  kv = await openKv();
});

afterEach(async () => {
  await old.close();
  await kv.close();
});

const bytes = (text: string) => new TextEncoder().encode(text);

const Person = defineModel({
  name: "people",
  schema: z.object({
    id: z.string(),
    username: z.string(),
    age: z.number().optional(),
    born: z.date().optional(),
  }),
  primaryKey: "id",
  indexes: { byUsername: { key: "username", unique: true }, byAge: { key: "age" } },
});

const indices = { username: "primary", age: "secondary" } as const;
const open = () => createDatabase({ kv, models: { people: Person } });

/**
 * The entries of kvdex for a document: `JSON.stringify` is what its encoder writes of texts and
 * numbers.
 */
async function writePerson(
  id: KvKeyPart,
  person: { username: string; age: number },
  path = ["users"],
) {
  const base = ["__kvdex__", ...path];
  await old
    .atomic()
    .set([...base, "__id__", id], person)
    .set([...base, "__index_primary__", "username", bytes(`"${person.username}"`)], {
      ...person,
      __id__: id,
    })
    .set([...base, "__index_secondary__", "age", bytes(String(person.age)), id], person)
    .set(["__kvdex__", "__history__", ...path, id, "01H"], { type: "write", value: person })
    .commit();
}

describe.each([3, 4] as const)("a collection of kvdex %i", (version) => {
  it("becomes a model, nested or not, and the source is only read", async () => {
    await writePerson("a", { username: "ada", age: 36 });
    await writePerson("b", { username: "bob", age: 36 });
    await writePerson("z", { username: "zoe", age: 1 }, ["nested", "users"]);
    const db = await open();
    const from = readOnlyKv(old);
    const layout = kvdexLayout({ version, collection: "users", indices });
    const { status, models } = await adopt(db, { from, models: { people: layout } });
    expect(status).toBe("done");
    expect(models[0]).toMatchObject({ rows: 2, adopted: 2, brokenCount: 0 });
    expect(await db.people.findUnique({ where: { username: "ada" } })).toEqual({
      id: "a",
      username: "ada",
      age: 36,
    });
    const nested = kvdexLayout({ version, collection: ["nested", "users"], indices });
    await adopt(db, { from, models: { people: nested } });
    expect((await db.people.scan()).items.map(({ username }) => username)).toEqual([
      "ada",
      "bob",
      "zoe",
    ]);
  });

  it("leaves history, messages and unnamed indices behind, and reports how many entries", async () => {
    await writePerson("1", { username: "ada", age: 36 });
    await writePerson("2", { username: "bob", age: 41 });
    await old.set(["__kvdex__", "__history__", "__segment__", "users", "1", "01H", 0], bytes("x"));
    await old.set(["__kvdex__", "__undelivered__", "users", "01H"], "message");
    await old.set(["__kvdex__", "__history__", "others", "1", "01H"], { type: "delete" });
    const layout = kvdexLayout({ version: 4, collection: "users", indices: { age: "secondary" } });
    const { models } = await adopt(await open(), {
      from: readOnlyKv(old),
      models: { people: layout },
    });
    expect(models[0]).toMatchObject({
      adopted: 2,
      brokenCount: 0,
      leftBehind: [
        { kind: "history entries", count: 2 },
        { kind: "segments of history entries", count: 1 },
        { kind: "undelivered messages", count: 1 },
        { kind: "entries of indices that the layout does not name", count: 2 },
      ],
    });
  });

  it("is checked for entries that are missing, lead nowhere, or hold an old copy", async () => {
    await writePerson("a", { username: "ada", age: 36 });
    await writePerson("b", { username: "bob", age: 42 });
    const base = ["__kvdex__", "users"];
    const adaKey = [...base, "__index_primary__", "username", bytes('"ada"')];
    const ghostKey = [...base, "__index_secondary__", "age", bytes("7"), "ghost"];
    const staleKey = [...base, "__index_secondary__", "age", bytes("41"), "b"];
    const oldCopyKey = [...base, "__index_secondary__", "age", bytes("42"), "b"];
    await old.delete(adaKey);
    await old.set(ghostKey, { username: "ghost", age: 7 });
    await old.set(staleKey, { username: "bob", age: 41 });
    await old.set(oldCopyKey, { username: "rob", age: 42 });
    const layout = kvdexLayout({ version, collection: "users", indices });
    const { models } = await adopt(await open(), { from: old, models: { people: layout } });
    expect(models[0]?.brokenEntries).toEqual([
      { kind: "missing", key: adaKey, id: "a" },
      { kind: "mismatched", key: oldCopyKey, id: "b" },
      { kind: "mismatched", key: staleKey, id: "b" },
      { kind: "dangling", key: ghostKey, id: "ghost" },
    ]);
    expect(models[0]).toMatchObject({ adopted: 2, brokenCount: 4 });
  });

  it("of encoded documents is read from their segments", async () => {
    const text = '{"username":"ada","age":36,"born":{"__date__":"1815-12-10T00:00:00.000Z"}}';
    const base = ["__kvdex__", "users"];
    const entry = { ids: [0, 1], isUint8Array: false };
    await old
      .atomic()
      .set([...base, "__id__", "a"], entry)
      .set([...base, "__segment__", "a", 0], bytes(text.slice(0, 30)))
      .set([...base, "__segment__", "a", 1], bytes(text.slice(30)))
      .set([...base, "__index_primary__", "username", bytes('"ada"')], { ...entry, __id__: "a" })
      .set([...base, "__index_secondary__", "age", bytes("36"), "a"], entry)
      // Kvdex may leave its segments behind.
      .set([...base, "__id__", "b"], { ids: [0], isUint8Array: false })
      .commit();
    const db = await open();
    const layout = kvdexLayout({ version, collection: "users", indices, encoder: "json" });
    const { models } = await adopt(db, { from: old, models: { people: layout } });
    expect(models[0]).toMatchObject({ rows: 2, adopted: 1, brokenCount: 0 });
    expect(models[0]?.failed).toMatchObject([{ id: "b", reason: "Its segment 0 is missing." }]);
    expect((await db.people.scan()).items).toEqual([
      { id: "a", username: "ada", age: 36, born: new Date("1815-12-10") },
    ]);
  });

  it("is refused where its documents are encoded and the layout does not say how", async () => {
    await old.set(["__kvdex__", "users", "__id__", "a"], { ids: [0], isUint8Array: false });
    const layout = kvdexLayout({ version, collection: "users" });
    expect(
      await rejection(adopt(await open(), { from: old, models: { people: layout } })),
    ).toMatchObject({
      code: "KW_ARGUMENT_INVALID",
      argument: "encoder",
    });
  });
});

describe("encoders", () => {
  const person = { username: "ada", age: 36 };

  async function writeEncoded(data: Uint8Array, key: Uint8Array) {
    const base = ["__kvdex__", "users"];
    await old.set([...base, "__id__", "a"], { ids: [0], isUint8Array: false });
    await old.set([...base, "__segment__", "a", 0], data);
    await old.set([...base, "__index_primary__", "username", key], {
      ids: [0],
      isUint8Array: false,
      __id__: "a",
    });
  }

  const primary = { username: "primary" } as const;

  it("of V8 are read", async () => {
    await writeEncoded(new Uint8Array(serialize(person)), new Uint8Array(serialize("ada")));
    const db = await open();
    const layout = kvdexLayout({
      version: 4,
      collection: "users",
      indices: primary,
      encoder: "v8",
    });
    const { models } = await adopt(db, { from: old, models: { people: layout } });
    expect(models[0]).toMatchObject({ adopted: 1, brokenCount: 0 });
  });

  it("with a compressor are taken as they are handed over", async () => {
    const compress = (data: Uint8Array) => new Uint8Array(brotliCompressSync(data));
    await writeEncoded(compress(bytes(JSON.stringify(person))), compress(bytes('"ada"')));
    const encoder = {
      serializer: {
        serialize: (value: unknown) => bytes(JSON.stringify(value)),
        deserialize: (data: Uint8Array): unknown => JSON.parse(new TextDecoder().decode(data)),
      },
      compressor: {
        compress,
        decompress: async (data: Uint8Array) => new Uint8Array(brotliDecompressSync(data)),
      },
    };
    const db = await open();
    const layout = kvdexLayout({ version: 4, collection: "users", indices: primary, encoder });
    const { models } = await adopt(db, { from: old, models: { people: layout } });
    expect(models[0]).toMatchObject({ adopted: 1, brokenCount: 0 });
    expect(await db.people.findUnique({ where: { id: "a" } })).toEqual({ id: "a", ...person });
  });
});

describe("ids", () => {
  const Thing = defineModel({
    name: "things",
    schema: z.object({
      id: z.union([z.string(), z.number(), z.bigint(), z.instanceof(Uint8Array)]),
      n: z.number(),
    }),
    primaryKey: "id",
  });
  const Pair = defineModel({
    name: "pairs",
    schema: z.object({ a: z.string(), b: z.number(), n: z.number() }),
    primaryKey: ["a", "b"],
  });

  it("of each kind of key part are the rows' ids", async () => {
    const ids = [new Uint8Array([1, 2]), "text", 0, 1.5, 12n];
    for (const [n, id] of ids.entries())
      await old.set(["__kvdex__", "things", "__id__", id], { n });
    const db = await createDatabase({ kv, models: { things: Thing } });
    const layout = kvdexLayout({ version: 3, collection: "things" });
    const { models } = await adopt(db, { from: old, models: { things: layout } });
    expect(models[0]).toMatchObject({ adopted: 5, failedCount: 0 });
    for (const [n, id] of ids.entries()) {
      expect(await db.things.findUnique({ where: { id } })).toEqual({ id, n });
    }
  });

  it("of several parts, as kvdex 4 has them, are those of several fields", async () => {
    await old.set(["__kvdex__", "pairs", "__id__", "x", 7], { n: 1 });
    const db = await createDatabase({ kv, models: { pairs: Pair } });
    const layout = kvdexLayout({ version: 4, collection: "pairs" });
    await adopt(db, { from: old, models: { pairs: layout } });
    expect(await db.pairs.findUnique({ where: { a: "x", b: 7 } })).toEqual({ a: "x", b: 7, n: 1 });
  });

  it("that are false, zero or empty have no entries in secondary indices, as kvdex writes none", async () => {
    await old.set(["__kvdex__", "things", "__id__", 0], { n: 5 });
    const db = await createDatabase({ kv, models: { things: Thing } });
    const layout = kvdexLayout({ version: 3, collection: "things", indices: { n: "secondary" } });
    const { models } = await adopt(db, { from: old, models: { things: layout } });
    expect(models[0]).toMatchObject({ adopted: 1, brokenCount: 0 });
  });
});

describe("documents that are no objects", () => {
  it("are refused without `map`, and taken with it", async () => {
    const Word = defineModel({
      name: "words",
      schema: z.object({ id: z.string(), text: z.string() }),
      primaryKey: "id",
    });
    await old.set(["__kvdex__", "words", "__id__", "a"], "hello");
    const db = await createDatabase({ kv, models: { words: Word } });
    const layout = kvdexLayout({ version: 4, collection: "words" });
    const { models } = await adopt(db, { from: old, models: { words: layout } });
    expect(models[0]?.failed).toMatchObject([{ id: "a", reason: expect.stringContaining("map") }]);
    const map = (text: string, id: string) => ({ id, text });
    const again = await adopt(db, { from: old, models: { words: { layout, map } } });
    expect(again.models[0]).toMatchObject({ adopted: 1 });
  });
});

describe("adopting in one database", () => {
  it("leaves the collection as it is beside the model", async () => {
    await writePerson("a", { username: "ada", age: 36 });
    const db = await createDatabase({ kv: old, models: { people: Person } });
    const layout = kvdexLayout({ version: 4, collection: "users", indices });
    const list = async () =>
      (await entriesOf(old)).filter(({ key }) => (key as string[])[0] === "__kvdex__");
    const before = await list();
    expect((await adopt(db, { from: old, models: { people: layout } })).models[0]).toMatchObject({
      adopted: 1,
    });
    expect(await list()).toEqual(before);
  });
});

describe("kvdex's JSON", () => {
  it("is read as kvdex 3 and 4 write it", () => {
    const texts: [string, unknown][] = [
      ['{"__undefined__":false}', undefined],
      ['[{"__nan__":false},{"__infinity__":false}]', [Number.NaN, Number.POSITIVE_INFINITY]],
      ['{"a":{"__bigint__":"-12"}}', { a: -12n }],
      ['{"__set__":[{"__date__":"1970-01-01T00:00:00.000Z"}]}', new Set([new Date(0)])],
      ['{"__map__":[["k",{"__bigint__":"1"}]]}', new Map([["k", 1n]])],
      ['{"__regexp__":"a+"}', /a+/],
      ['{"__uint8array__":[1,255]}', new Uint8Array([1, 255])],
      ['{"__biguint64array__":[{"__bigint__":"5"}]}', new BigUint64Array([5n])],
      ['{"__arraybuffer__":[1,2]}', new Uint8Array([1, 2]).buffer],
      ['{"__dataview__":[1,2]}', new DataView(new Uint8Array([1, 2]).buffer)],
      [
        '{"__dataview__":{"data":[1,2,3],"byteOffset":1,"byteLength":2}}',
        new DataView(new Uint8Array([1, 2, 3]).buffer, 1, 2),
      ],
    ];
    for (const [text, value] of texts) expect(valueOfJson(text)).toStrictEqual(value);
    expect(valueOfJson('{"__error__":{"message":"m","name":"TypeError"}}')).toMatchObject({
      message: "m",
      name: "TypeError",
    });
    expect(() => valueOfJson('{"__bigint__":"x"}')).toThrow(SyntaxError);
  });

  it("is written so that it is read again as the same value", () => {
    const leaf = fc.oneof(
      fc.string(),
      fc.double({ noDefaultInfinity: true }).filter((n) => !Object.is(n, -0)),
      fc.constant(Number.POSITIVE_INFINITY),
      fc.bigInt(),
      fc.boolean(),
      fc.constantFrom(null, undefined),
      fc.date({ noInvalidDate: true }),
      fc.uint8Array(),
      fc.bigInt64Array(),
    );
    const value = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 3 }, leaf, tie("list"), tie("object"), tie("set"), tie("map")),
      list: fc.array(tie("value"), { maxLength: 4 }),
      object: fc.dictionary(fc.string(), tie("value"), { maxKeys: 4, noNullPrototype: true }),
      set: fc.array(leaf, { maxLength: 4 }).map((list) => new Set(list)),
      map: fc
        .array(fc.tuple(fc.string(), tie("value")), { maxLength: 4 })
        .map((list) => new Map(list)),
    })).value;
    fc.assert(
      fc.property(value, (it) => {
        expect(valueOfJson(jsonOf(it))).toStrictEqual(it);
      }),
    );
  });
});
