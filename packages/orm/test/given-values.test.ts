import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { type Rows, rowsOf } from "../src/codegen.js";
import { belongsTo, createDatabase, type Database, defineModel, hasMany } from "../src/index.js";
import { Reports } from "./live-reports.js";
import { rejection } from "./user-model.js";

const File = defineModel({
  name: "files",
  schema: z.object({
    hash: z.instanceof(Uint8Array),
    code: z.instanceof(Uint8Array),
    at: z.date(),
    n: z.int(),
    writes: z.int().default(0),
  }),
  primaryKey: "hash",
  indexes: {
    byCode: { key: "code", unique: true },
    byAt: { key: "at", unique: true },
    byN: { key: "n" },
  },
  relations: { parts: hasMany("parts", "file") },
});

const Part = defineModel({
  name: "parts",
  schema: z.object({ id: z.int(), file: z.instanceof(Uint8Array) }),
  primaryKey: "id",
  indexes: { byFile: { key: "file" } },
  relations: { of: belongsTo("files", "file") },
});

type FileRow = z.output<typeof File.schema>;
type Files = Rows<FileRow, z.input<typeof File.schema>, Record<string, unknown>>;
type Db = Database<{ files: typeof File; parts: typeof Part }>;
type Repositories = Pick<Db, "files" | "parts">;

const bytes = (n: number) => new Uint8Array([n]);
const fileOf = (n: number) => ({ hash: bytes(n), code: bytes(n), at: new Date(n), n });

let kv: EmbeddedKv;
let db: Db;
let generated: Files;

beforeEach(async () => {
  kv = await openKv();
  db = await createDatabase({ kv, models: { files: File, parts: Part } });
  generated = rowsOf(db, "files");
  for (const n of [1, 2, 3]) {
    await db.files.create({ data: fileOf(n) });
    await db.parts.create({ data: { id: n, file: bytes(n) } });
  }
});
afterEach(() => kv.close());

/** What is handed over: it names the first row, and another right after the call. */
class Given {
  readonly hash = bytes(1);
  readonly at = new Date(1);
  readonly byHash = { hash: this.hash };
  readonly byAt = { at: this.at };
  readonly byN = { n: 1 };
  readonly byNs = { n: { in: [1] } };
  readonly write = { writes: 1 };

  change(): void {
    this.hash[0] = 2;
    this.at.setTime(2);
    this.byN.n = 2;
    this.byNs.n.in[0] = 2;
    this.write.writes = 2;
  }
}

async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const row of rows) list.push(row);
  return list;
}

async function first<T>(stream: ReadableStream<T>): Promise<T> {
  const reports = new Reports(stream);
  const report = (await reports.next()) as T;
  await reports.cancel();
  return report;
}

/** The rows that a call meant. */
type Call = (db: Repositories, given: Given) => PromiseLike<unknown>;

const whole = (rows: { results: readonly object[] }) =>
  rows.results.map((result) => (result as { row: FileRow }).row);

const reads: Record<string, Call> = {
  findUnique: ({ files }, { byHash }) => files.findUnique({ where: byHash }),
  "findUnique by a date": ({ files }, { byAt }) => files.findUnique({ where: byAt }),
  "findUnique by an index": ({ files }, { hash }) => files.findUnique({ where: { code: hash } }),
  findUniqueOrThrow: ({ files }, { byHash }) => files.findUniqueOrThrow({ where: byHash }),
  findFirst: ({ files }, { byN }) => files.findFirst({ where: byN }),
  findFirstOrThrow: ({ files }, { byN }) => files.findFirstOrThrow({ where: byN }),
  findMany: ({ files }, { byNs }) => files.findMany({ where: byNs }).then(({ items }) => items),
  "findMany by bytes": ({ files }, { hash }) =>
    files.findMany({ where: { code: { in: [hash] } } }).then(({ items }) => items),
};

const lazyReads: Record<string, Call> = {
  "findMany, awaited later": ({ files }, { byNs }) => {
    const rows = files.findMany({ where: byNs });
    return Promise.resolve().then(async () => (await rows).items);
  },
  "findMany, iterated later": ({ files }, { byNs }) => {
    const rows = files.findMany({ where: byNs });
    return Promise.resolve().then(() => all(rows));
  },
};

const writes: Record<string, Call> = {
  update: ({ files }, { byHash, write }) => files.update({ where: byHash, data: write }),
  "update by an index": ({ files }, { byAt, write }) => files.update({ where: byAt, data: write }),
  upsert: ({ files }, { byHash, write }) =>
    files.upsert({ where: byHash, create: fileOf(9), update: write }),
  updateMany: ({ files }, { byN, write }) =>
    files.updateMany({ where: byN, data: write }).then(whole),
  "updateMany, atomic": ({ files }, { byNs, write }) =>
    files.updateMany({ where: byNs, data: write, atomic: true }).then(whole),
};

const deletes: Record<string, Call> = {
  delete: ({ files }, { byHash }) => files.delete({ where: byHash }),
  "delete by an index": ({ files }, { byAt }) => files.delete({ where: byAt }),
  deleteMany: ({ files }, { byN }) => files.deleteMany({ where: byN }).then(whole),
};

describe("what a call was given may be changed right after it:", () => {
  const repositories = { ...reads, ...lazyReads, ...writes, ...deletes };

  it.each(Object.entries(repositories))("%s", async (_, call) => {
    await db.parts.deleteMany({ filter: () => true });
    const given = new Given();
    const rows = call(db, given);
    given.change();
    expect([await rows].flat()).toMatchObject([{ n: 1 }]);
    expect((await db.files.scan()).items.map(({ writes }) => writes)).not.toContain(2);
  });

  it.each(Object.entries(repositories))("%s, within a transaction", async (_, call) => {
    await db.parts.deleteMany({ filter: () => true });
    await db.transaction(async (tx) => {
      const given = new Given();
      const rows = call(tx, given);
      given.change();
      expect([await rows].flat()).toMatchObject([{ n: 1 }]);
    });
  });

  const ofGenerated: Record<string, (files: Files, given: Given) => PromiseLike<unknown>> = {
    findUnique: (files, { hash }) => files.findUnique({ where: { hash } }),
    findUniqueOrThrow: (files, { hash }) => files.findUniqueOrThrow({ where: { hash } }),
    findEach: (files, { hash }) => files.findEach([hash]),
    "findUnique with its versionstamp": (files, { hash }) =>
      files.findVersioned({ where: { hash } }).then((found) => found?.row),
    "findUnique by an index": (files, { hash }) =>
      files.findUnique({ index: "byCode", where: { code: hash } }),
    "findUnique by a date": (files, { at }) => files.findUnique({ index: "byAt", where: { at } }),
    "findMany, awaited later": (files, { hash }) => {
      const rows = files.findMany({ index: "byCode", where: { code: hash } });
      return Promise.resolve().then(async () => (await rows).items);
    },
    "findMany, iterated later": (files, { byNs }) => {
      const rows = files.findMany({ index: "byN", where: byNs });
      return Promise.resolve().then(() => all(rows));
    },
    watch: (files, { hash }) => first(files.watch({ where: { hash } })),
    "watch by an index": (files, { hash }) =>
      first(files.watch({ index: "byCode", where: { code: hash } })),
    watchMany: (files, { byN }) => first(files.watchMany({ index: "byN", where: byN })),
    update: (files, { hash, write }) => files.update({ where: { hash }, data: write }),
    upsert: (files, { hash, write }) =>
      files.upsert({ where: { hash }, create: fileOf(9), update: write }),
    "upsert by an index": (files, { hash, write }) =>
      files.upsert({
        index: "byCode",
        where: { code: hash },
        create: fileOf(9),
        update: write,
      }),
    delete: (files, { hash }) => files.delete({ where: { hash } }),
  };

  it.each(Object.entries(ofGenerated))("%s of a generated repository", async (_, call) => {
    await db.parts.deleteMany({ filter: () => true });
    const given = new Given();
    const rows = call(generated, given);
    given.change();
    expect([await rows].flat()).toMatchObject([{ n: 1 }]);
    expect((await db.files.scan()).items.map(({ writes }) => writes)).not.toContain(2);
  });

  it("the key that an upsert gives a new row", async () => {
    const key = bytes(4);
    const { hash: _, ...create } = fileOf(4);
    const row = generated.upsert({ where: { hash: key }, create, update: {} });
    key[0] = 1;
    expect(await row).toMatchObject({ hash: bytes(4), n: 4 });
    expect(await db.files.findUnique({ where: { hash: bytes(4) } })).toEqual(await row);
  });

  it("what is counted", async () => {
    await db.files.create({ data: { ...fileOf(4), n: 1 } });
    const { byN } = new Given();
    const counts = [
      db.files.count({ where: byN, filter: () => true }),
      generated.count({ index: "byN", where: byN }),
      db.files.exists({ where: byN, filter: ({ n }) => n === 1 }),
    ];
    byN.n = 3;
    expect(await Promise.all(counts)).toEqual([2, 2, true]);
  });

  it("what is watched", async () => {
    const { byHash, byNs } = new Given();
    const row = new Reports(db.files.watch({ where: byHash }));
    const rows = new Reports(db.files.watchMany({ where: byNs }));
    byHash.hash[0] = 2;
    byNs.n.in[0] = 2;
    expect(await row.next()).toMatchObject({ n: 1, writes: 0 });
    expect(await rows.next()).toMatchObject([{ n: 1, writes: 0 }]);
    await db.files.update({ where: { hash: bytes(1) }, data: { writes: 1 } });
    expect(await row.next()).toMatchObject({ n: 1, writes: 1 });
    expect(await rows.next()).toMatchObject([{ n: 1, writes: 1 }]);
    await row.cancel();
    await rows.cancel();
  });

  it("what is selected and included", async () => {
    const select: Record<string, boolean> = { n: true };
    const include = { parts: { where: { id: { gt: 0 } } } };
    const { byHash: where } = new Given();
    const row = db.files.update({ where, data: { writes: 1 }, select: select as never, include });
    select.writes = true;
    include.parts.where.id.gt = 5;
    expect(await row).toEqual({ n: 1, parts: [{ id: 1, file: bytes(1) }] });
  });

  it("the row whose relations are read", async () => {
    const file = fileOf(1);
    const part = { id: 1, file: bytes(1) };
    const parts = rowsOf(db, "parts");
    const loaded = [
      generated.loadRelated("parts", file as FileRow),
      generated.loadRelatedOfEach("parts", [file as FileRow]),
      generated.listRelated("parts", file as FileRow),
      parts.loadRelated("of", part),
    ];
    file.hash[0] = 2;
    part.file[0] = 2;
    const [own, ofEach, listed, of] = await Promise.all(loaded);
    expect(own).toEqual([{ id: 1, file: bytes(1) }]);
    expect(ofEach).toEqual([own]);
    expect(listed).toMatchObject({ items: own });
    expect(of).toMatchObject({ n: 1 });
  });

  it("the versionstamp that a row must have", async () => {
    const where = { hash: bytes(1) };
    const found = await generated.findVersioned({ where });
    const options = { where, data: { writes: 1 }, ifVersion: "0".repeat(20) };
    const update = rejection(generated.update(options));
    options.ifVersion = found?.versionstamp ?? "";
    expect(await update).toMatchObject({ code: "KW_VERSION_CONFLICT" });
  });

  it("rows of a long list that is created", async () => {
    const data = Array.from({ length: 250 }, (_, i) => ({
      hash: new Uint8Array([1, i]),
      code: new Uint8Array([1, i]),
      at: new Date(i + 4),
      n: i + 4,
    }));
    const created = db.files.createMany({ data });
    for (const row of data) {
      row.hash.fill(7);
      row.n = -1;
    }
    const { count, results } = await created;
    expect(count).toBe(250);
    expect(whole({ results }).map(({ n }) => n)).toEqual(data.map((_, i) => i + 4));
  });
});

it("one buffer for the keys of many writes names each of their rows, however often they are tried", async () => {
  const key = bytes(0);
  const calls: Promise<unknown>[] = [];
  for (let round = 0; round < 5; round++) {
    for (const n of [1, 2, 3]) {
      key[0] = n;
      const data = { writes: { increment: 1 } };
      calls.push(db.files.update({ where: { hash: key }, data }));
      calls.push(generated.update({ where: { hash: key }, data }));
      calls.push(generated.upsert({ where: { hash: key }, create: {}, update: data }));
      calls.push(
        generated.upsert({ index: "byCode", where: { code: key }, create: {}, update: data }),
      );
    }
  }
  key[0] = 9;
  await Promise.all(calls);
  expect((await db.files.scan()).items.map(({ n, writes }) => [n, writes])).toEqual([
    [1, 20],
    [2, 20],
    [3, 20],
  ]);
});

it("an error names the row that was asked for, whatever its key is by then", async () => {
  const hash = bytes(8);
  const errors = [
    db.files.findUniqueOrThrow({ where: { hash } }),
    db.files.update({ where: { hash }, data: {} }),
    db.files.delete({ where: { hash } }),
    generated.findUniqueOrThrow({ where: { hash } }),
    generated.update({ where: { hash }, data: {} }),
    generated.delete({ where: { hash } }),
  ].map(rejection);
  hash[0] = 1;
  for (const error of await Promise.all(errors)) {
    expect(error).toMatchObject({ code: "KW_ROW_NOT_FOUND", where: { hash: bytes(8) } });
  }
});
