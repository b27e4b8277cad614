import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type EmbeddedKv, type Kv, type KvKey, openKv } from "@keywright/core";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import type { EntryFinding } from "../src/derived/entries/verify/inspect-entry.js";
import { Sums } from "../src/derived/verify/sums.js";
import type { VerificationOptions } from "../src/derived/verify/verifier.js";
import { type VerifiedEntries, verifyDerived } from "../src/derived/verify-derived.js";
import { belongsTo, createDatabase, defineModel } from "../src/index.js";
import { verifyIndexes } from "../src/migrate.js";
import { tableContexts } from "../src/state/context/any-database.js";
import type { TableContext } from "../src/state/context/table-context.js";
import { type Lease, takeLease } from "../src/state/run/lease.js";
import type { MigrationProgress, MigrationRun } from "../src/state/run/migration-run.js";
import { createRun, type RunOptions } from "../src/state/run/migration-run.js";
import { countingKv } from "./counting-kv.js";
import { Crash, crashAtEachCommit, crashingKv, denoKv, withoutPages } from "./faulty-kv.js";
import { rejection } from "./user-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

const Person = defineModel({
  name: "people",
  schema: z.object({
    id: z.string(),
    name: z.string(),
    email: z.string(),
    tags: z.array(z.string()).default([]),
    isOpen: z.boolean().default(true),
    visits: z.int().default(0),
  }),
  primaryKey: "id",
  indexes: {
    byName: { key: "name" },
    byEmail: { key: "email", unique: true, normalize: (email) => email.toLowerCase() },
    byTag: { key: "tags", each: true },
    byOpen: { key: "visits", where: (person) => person.isOpen },
    byInitial: { key: (person) => person.name[0] },
    byVisits: { key: "visits", include: ["name"] },
    byNameCopy: { key: "name", store: "copy" },
    byEmailCopy: { key: "email", unique: true, store: "copy" },
  },
});

const person = (i: number) => ({
  id: `p${String(i).padStart(4, "0")}`,
  name: `${"abcdef"[i % 6]}${i}`,
  email: `E${i}@example.com`,
  tags: i % 3 === 0 ? ["x", `t${i % 10}`] : [],
  isOpen: i % 2 === 0,
  visits: i % 7,
});

const openPeople = (kv: Kv) => createDatabase({ kv, models: { people: Person } });

async function fill(kv: Kv, count: number): Promise<void> {
  const db = await openPeople(kv);
  await db.people.createMany({ data: Array.from({ length: count }, (_, i) => person(i)) });
}

async function contextOf(kv: Kv): Promise<TableContext> {
  return tableContexts(await openPeople(kv)).get("people")!;
}

/**
 * A database that calls `interfere` before each read of many keys, with one of them, and before
 * each `list`.
 */
function busyKv(kv: Kv, interfere: (key?: KvKey) => Promise<void>): Kv {
  return new Proxy(withoutPages(kv), {
    get(target, property) {
      if (property === "getMany") {
        return async (keys: readonly KvKey[]) => {
          await interfere(keys[0]);
          return await target.getMany<unknown[]>(keys);
        };
      }
      if (property === "list") {
        return async function* (...given: Parameters<Kv["list"]>) {
          await interfere();
          yield* target.list(...given);
        };
      }
      const member: unknown = Reflect.get(target, property, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** Verifies a model. No row copies fields. */
const verifyModel = (
  context: TableContext,
  run: MigrationRun,
  options: Partial<VerificationOptions>,
) =>
  verifyDerived(context, run, { indexes: context.model.indexes, repair: false, ...options }, () =>
    Promise.reject(new Error("a row was written")),
  );

/** Verifies a model by a run of its own. */
async function verify(
  kv: Kv,
  options: Partial<VerificationOptions> & RunOptions & { batchRows?: number } = {},
): Promise<VerifiedEntries | "stopped"> {
  const context = await contextOf(kv);
  const lease = (await takeLease(kv, { wait: true })) as Lease;
  try {
    const { batchRows = Number.POSITIVE_INFINITY } = options;
    const run = { ...createRun(lease, options), batchRows };
    return await verifyModel(context, run, options);
  } finally {
    await lease.release();
  }
}

/** The same, to its end. */
async function verified(...given: Parameters<typeof verify>): Promise<VerifiedEntries> {
  const result = await verify(...given);
  if (result === "stopped") throw new Error("it was stopped");
  return result;
}

const nothing = { missing: 0, dangling: 0, mismatched: 0 };
const sorted = (findings: readonly unknown[]) => findings.map((one) => JSON.stringify(one)).sort();
const told = ({ kind, index, key, primaryKey }: EntryFinding) => [kind, index, key, primaryKey];

async function ownKeys(kv: Kv): Promise<KvKey[]> {
  const keys = [];
  for await (const { key } of kv.list({ prefix: ["__keywright"] })) keys.push(key);
  return keys.filter(([, kind]) => kind !== "catalog" && kind !== "schema");
}

const databases: Readonly<Record<string, () => Promise<{ kv: Kv; close: () => Promise<void> }>>> = {
  "in memory": async () => {
    const kv = await openKv();
    return { kv, close: () => kv.close() };
  },
  "on disk": async () => {
    const folder = await mkdtemp(join(tmpdir(), "keywright-"));
    const kv = await openKv(join(folder, "kv"), { durability: "relaxed" });
    const close = async () => {
      await kv.close();
      await rm(folder, { recursive: true });
    };
    return { kv, close };
  },
  "within Deno's limits": async () => {
    const kv = await openKv();
    return { kv: denoKv(kv), close: () => kv.close() };
  },
};

describe.each(Object.entries(databases))("verifying %s", (_, open) => {
  let kv: Kv;
  let close: () => Promise<void>;
  beforeEach(async () => {
    ({ kv, close } = await open());
    await fill(kv, 60);
  });
  afterEach(() => close());

  /** Each kind of damage to each kind of index, and what is to be found. */
  async function damage(): Promise<unknown[]> {
    const row = async (i: number) => (await kv.get<object>(["people", person(i).id])).value!;
    const set = async (key: KvKey, value: unknown) => void (await kv.set(key, value));
    await kv.delete(["people_by_name", "b1", "p0001"]);
    await set(["people_by_name", "c2", "p0002"], "p0003");
    await set(["people_by_name", "other", "p0004"], "p0004");
    await set(["people_by_name", "gone", "p9999"], "p9999");
    await set(["people_by_name", "short"], "p0005");
    await kv.delete(["people_by_email", "e1@example.com"]);
    await set(["people_by_email", "e2@example.com"], "p0003");
    await set(["people_by_email", "nobody@example.com"], "p0004");
    await set(["people_by_email", "text@example.com"], { no: "pointer" });
    await kv.delete(["people_by_tag", "x", "p0003"]);
    await set(["people_by_tag", "y", "p0003"], "p0003");
    await kv.delete(["people_by_open", 4, "p0004"]);
    await set(["people_by_open", 1, "p0001"], "p0001");
    await kv.delete(["people_by_initial", "b", "p0001"]);
    await set(["people_by_visits", 1, "p0001"], { id: "p0001", name: "stale" });
    await kv.delete(["people_by_visits", 2, "p0002"]);
    await set(["people_by_visits", 6, "p0002"], { id: "p0002", name: "c2" });
    await set(["people_by_name_copy", "b1", "p0001"], { ...(await row(1)), visits: 99 });
    await set(["people_by_name_copy", "stale", "p0002"], { ...(await row(2)), name: "stale" });
    await kv.delete(["people_by_email_copy", "E1@example.com"]);
    await set(["people_by_email_copy", "E2@example.com"], { ...(await row(2)), visits: 99 });
    return [
      ["missing", "byName", ["people_by_name", "b1", "p0001"], ["p0001"]],
      ["missing", "byEmail", ["people_by_email", "e1@example.com"], ["p0001"]],
      ["missing", "byInitial", ["people_by_initial", "b", "p0001"], ["p0001"]],
      ["mismatched", "byVisits", ["people_by_visits", 1, "p0001"], ["p0001"]],
      ["mismatched", "byNameCopy", ["people_by_name_copy", "b1", "p0001"], ["p0001"]],
      ["missing", "byEmailCopy", ["people_by_email_copy", "E1@example.com"], ["p0001"]],
      ["mismatched", "byName", ["people_by_name", "c2", "p0002"], ["p0002"]],
      ["mismatched", "byEmail", ["people_by_email", "e2@example.com"], ["p0002"]],
      ["missing", "byVisits", ["people_by_visits", 2, "p0002"], ["p0002"]],
      ["mismatched", "byEmailCopy", ["people_by_email_copy", "E2@example.com"], ["p0002"]],
      ["missing", "byTag", ["people_by_tag", "x", "p0003"], ["p0003"]],
      ["missing", "byOpen", ["people_by_open", 4, "p0004"], ["p0004"]],
      ["dangling", "byName", ["people_by_name", "gone", "p9999"], ["p9999"]],
      ["dangling", "byName", ["people_by_name", "other", "p0004"], ["p0004"]],
      ["dangling", "byName", ["people_by_name", "short"], null],
      ["dangling", "byEmail", ["people_by_email", "nobody@example.com"], ["p0004"]],
      ["dangling", "byEmail", ["people_by_email", "text@example.com"], null],
      ["dangling", "byTag", ["people_by_tag", "y", "p0003"], ["p0003"]],
      ["dangling", "byOpen", ["people_by_open", 1, "p0001"], ["p0001"]],
      ["dangling", "byVisits", ["people_by_visits", 6, "p0002"], ["p0002"]],
      ["dangling", "byNameCopy", ["people_by_name_copy", "stale", "p0002"], ["p0002"]],
    ];
  }

  it("finds nothing where nothing is wrong, and writes nothing", async () => {
    const result = await verified(kv);
    expect(result).toMatchObject({ rows: 60, findings: [], counts: nothing, repaired: 0 });
    // Six entries of each row, 40 of tags, 30 of open ones.
    expect(result.entries).toBe(6 * 60 + 40 + 30);
    expect(result.indexes).toEqual(Object.keys(Person.indexes));
    expect(await ownKeys(kv)).toEqual([]);
  });

  it("finds every kind of damage, each once, and changes nothing", async () => {
    const expected = await damage();
    const result = await verified(kv);
    expect(sorted(result.findings.map(told))).toEqual(sorted(expected));
    expect(result.counts).toEqual({ missing: 7, mismatched: 5, dangling: 9 });
    expect(result.repaired).toBe(0);
    expect((await verified(kv)).findings).toEqual(result.findings);
    expect(await ownKeys(kv)).toEqual([]);
  });

  it("repairs every kind of damage", async () => {
    const expected = await damage();
    const result = await verified(kv, { repair: true });
    expect(sorted(result.findings.map(told))).toEqual(sorted(expected));
    expect(result.findings.every(({ repaired }) => repaired)).toBe(true);
    expect(result.repaired).toBe(expected.length);
    await expectIndexesToMatch(kv, Person);
    expect((await verified(kv)).findings).toEqual([]);
    expect(await ownKeys(kv)).toEqual([]);
  });

  it("does not take a unique value from the row that has it by right", async () => {
    const twin = { ...person(7), id: "twin" };
    await kv.set(["people", "twin"], twin);
    const result = await verified(kv, { repair: true });
    const held = (index: string) => result.findings.filter((finding) => finding.index === index);
    const mismatched = { kind: "mismatched", primaryKey: ["twin"], repaired: false };
    expect(held("byEmail")).toEqual([
      expect.objectContaining({ ...mismatched, heldBy: ["p0007"] }),
    ]);
    expect(held("byEmailCopy")).toEqual([
      expect.objectContaining({ ...mismatched, heldBy: ["p0007"] }),
    ]);
    expect((await kv.get(["people_by_email", "e7@example.com"])).value).toBe("p0007");
    // What is not unique is put right.
    expect(result.counts).toEqual({ missing: result.repaired, mismatched: 2, dangling: 0 });
    expect(result.conflicts).toBe(2);
    expect(result.repaired).toBeGreaterThan(0);
  });

  it("gives a unique value to one of two rows where neither has it", async () => {
    for (const id of ["twin1", "twin2"]) {
      await kv.set(["people", id], { ...person(0), id, email: "twin@example.com" });
    }
    const result = await verified(kv, { repair: true });
    const ofEmail = result.findings.filter(({ index }) => index === "byEmail");
    expect(ofEmail).toMatchObject([
      { kind: "missing", primaryKey: ["twin1"], repaired: true },
      { kind: "mismatched", primaryKey: ["twin2"], repaired: false, heldBy: ["twin1"] },
    ]);
    expect((await kv.get(["people_by_email", "twin@example.com"])).value).toBe("twin1");
  });
});

describe("verifying", () => {
  let kv: EmbeddedKv;
  beforeEach(async () => {
    kv = await openKv();
  });
  afterEach(() => kv.close());

  it("finds what a row of another key does not have in two scans, without reading the entries", async () => {
    await fill(kv, 1200);
    const { kv: counted, calls } = countingKv(kv);
    const context = await contextOf(counted);
    const pointers = context.model.indexes.filter((index) => index.store === "pointer");
    // A slow run renews its lease and looks for other writers by commits that are not counted here.
    const lease = (await takeLease(counted, { wait: false, timeToLive: 600_000 })) as Lease;
    lease.probeOtherWriters = async () => {};
    const before = { ...calls };
    await verifyModel(context, createRun(lease, {}), { indexes: pointers, repair: true });
    expect(calls.getMany).toBe(before.getMany);
    expect(calls.commit).toBe(before.commit);
    await lease.release();
  });

  it("lists rows that an index cannot hold, and what is no row, and repairs all else", async () => {
    await fill(kv, 10);
    await kv.set(["people", "text"], "no row");
    await kv.set(["people", "null"], null);
    await kv.set(["people", "p0001", "below"], person(1));
    await kv.set(["people", "object"], { ...person(20), id: "object", email: { is: "an object" } });
    await kv.set(["people", "lone"], { ...person(21), id: "lone", name: "a\ud800" });
    await kv.set(["people", "long"], { ...person(22), id: "long", name: "a".repeat(3000) });
    await verified(kv, { repair: true });
    const { findings, unindexed, unindexedCount } = await verified(kv);
    expect(findings).toEqual([]);
    const indexesOf = (row: string) =>
      unindexed.flatMap(({ id, indexes }) => (id === row ? indexes : [])).sort();
    expect(indexesOf("object")).toEqual(["byEmail", "byEmailCopy"]);
    expect(indexesOf("lone")).toEqual(["byName", "byNameCopy"]);
    expect(indexesOf("text")).toEqual(indexesOf("null"));
    expect(indexesOf("text")).toHaveLength(8);
    expect(unindexedCount).toBe(unindexed.length);
    const own = async (id: string) => {
      const keys: unknown[] = [];
      for await (const { key } of kv.list({ prefix: [] })) {
        if (key[0] !== "people" && key.at(-1) === id) keys.push(key[0]);
      }
      return keys;
    };
    // Unlike its other entries, that of byName cannot be there.
    expect(await own("lone")).toEqual([
      "people_by_initial",
      "people_by_tag",
      "people_by_tag",
      "people_by_visits",
    ]);
    expect(await own("long")).toContain("people_by_initial");
  });

  it("does not miss what is wrong with indexes of composite keys, and of other kinds of parts", async () => {
    const Reading = defineModel({
      name: "readings",
      schema: z.object({ sensor: z.int(), at: z.date(), big: z.bigint(), ok: z.boolean() }),
      primaryKey: ["sensor", "at"],
      indexes: { byBig: { key: "big" }, byOk: { key: ["ok", "sensor"], unique: true } },
    });
    const db = await createDatabase({ kv, models: { readings: Reading } });
    for (let i = 0; i < 10; i++) {
      const at = new Date(i * 1000);
      await db.readings.create({ data: { sensor: i, at, big: BigInt(i) * -7n, ok: i % 2 > 0 } });
    }
    await kv.set(["readings_by_big", -7n, 1, 1000], [1, 2000]);
    await kv.set(["readings_by_ok", false, 2], [2, 1]);
    await kv.delete(["readings_by_ok", true, 3]);
    const context = tableContexts(db).get("readings")!;
    const lease = (await takeLease(kv, { wait: false })) as Lease;
    const run = createRun(lease, {});
    const result = await verifyModel(context, run, { repair: true });
    expect(result).toMatchObject({
      counts: { missing: 1, mismatched: 2, dangling: 0 },
      repaired: 3,
      entries: 19,
    });
    await lease.release();
    await expectIndexesToMatch(kv, Reading);
  });

  it("keeps the entries of rows that expire no longer than the rows", async () => {
    const db = await openPeople(kv);
    await db.people.create({ data: person(1), expireIn: 60_000 });
    const { expireAt } = (await kv.get(["people", "p0001"])) as { expireAt?: number };
    await kv.delete(["people_by_name", "b1", "p0001"]);
    expect((await verified(kv, { repair: true })).repaired).toBe(1);
    const entry = (await kv.get(["people_by_name", "b1", "p0001"])) as { expireAt?: number };
    expect(entry.expireAt ?? Number.POSITIVE_INFINITY).toBeLessThan(expireAt! + 1000);
  });

  it("finds nothing wrong with an invalid date in fields that entries and rows copy", async () => {
    const Place = defineModel({
      name: "places",
      schema: z.object({ id: z.string(), opened: z.any().default(null) }),
      primaryKey: "id",
    });
    const Visit = defineModel({
      name: "visits",
      schema: z.object({ id: z.string(), place: z.string(), opened: z.any().default(null) }),
      primaryKey: "id",
      indexes: { byPlace: { key: "place", include: ["opened"] } },
      relations: { at: belongsTo("places", "place", { copy: { opened: "opened" } }) },
    });
    const db = await createDatabase({ kv, models: { places: Place, visits: Visit } });
    await db.places.create({ data: { id: "a", opened: { at: new Date(Number.NaN) } } });
    await db.visits.create({ data: { id: "1", place: "a" } });
    const { status, models } = await verifyIndexes(db);
    expect([status, models.flatMap(({ copies }) => copies?.first ?? [])]).toEqual(["clean", []]);
  });

  it("keeps a hundred findings, and counts all", async () => {
    await fill(kv, 150);
    for (let i = 0; i < 150; i++) await kv.delete(["people_by_name", person(i).name, person(i).id]);
    const result = await verified(kv);
    expect(result.findings).toHaveLength(100);
    expect(result.counts.missing).toBe(150);
  });

  it("records the duplicates of a unique index that waits for them, and tells of them each time", async () => {
    await fill(kv, 5);
    const key = ["__keywright", "catalog", "people"];
    const { value } = await kv.get<{ indexes: Record<string, object> }>(key);
    const byEmail = { ...value!.indexes.byEmail, state: "unique-pending" };
    await kv.set(key, { ...value, indexes: { ...value!.indexes, byEmail } });
    const twin = { ...person(2), id: "twin", email: "e2@EXAMPLE.com" };
    await kv.set(["people", "twin"], twin);
    const held = { kind: "mismatched", primaryKey: ["twin"], heldBy: ["p0002"], repaired: false };
    const ofEmail = ({ findings }: VerifiedEntries) =>
      findings.filter(({ index }) => index === "byEmail");
    expect(ofEmail(await verified(kv, { repair: true }))).toMatchObject([held]);
    for (const repair of [false, true]) {
      const again = await verified(kv, { repair });
      expect(ofEmail(again)).toMatchObject([held]);
      expect(again).toMatchObject({ conflicts: 1, counts: { mismatched: 1 }, repaired: 0 });
    }
    const record = ["__keywright", "duplicates", "people", "byEmail", "e2@example.com", "twin"];
    expect((await kv.get(record)).value).toMatchObject({ primaryKey: ["twin"], index: "byEmail" });
  });

  it("passes over indexes that are not complete", async () => {
    await fill(kv, 5);
    const key = ["__keywright", "catalog", "people"];
    const { value } = await kv.get<{ indexes: Record<string, object> }>(key);
    const byName = { ...value!.indexes.byName, state: "write-only" };
    const byTag = { ...value!.indexes.byTag, state: "dropping" };
    await kv.set(key, { ...value, indexes: { ...value!.indexes, byName, byTag } });
    await kv.delete(["people_by_name", "b1", "p0001"]);
    const result = await verified(kv, { repair: true });
    expect(result.indexes).not.toContain("byName");
    expect(result.indexes).not.toContain("byTag");
    expect(result.findings).toEqual([]);
  });

  it("reports no finding where a writer comes between any two of its reads", async () => {
    await fill(kv, 20);
    const db = await openPeople(kv);
    let n = 0;
    const interfere = async (key: KvKey = ["people", person(n % 20).id]) => {
      const id = String(key.at(-1));
      // A row that the run has just read, or one whose entry it has.
      if ((await kv.get(["people", id])).versionstamp === null) return;
      n++;
      const data = {
        name: `g${n}`,
        email: `G${n}@e.com`,
        tags: [`t${n}`],
        visits: n,
        isOpen: true,
      };
      await db.people.update({ where: { id }, data });
    };
    for (const repair of [false, true]) {
      const result = await verified(busyKv(kv, interfere), { repair, batchRows: 5 });
      expect(result).toMatchObject({ findings: [], counts: nothing, repaired: 0 });
    }
    expect(n).toBeGreaterThan(50);
    await expectIndexesToMatch(kv, Person);
  });

  it("names the owner of a unique value in the state in which it reads the owner's row", async () => {
    await fill(kv, 3);
    await kv.set(["people", "twin"], { ...person(1), id: "twin" });
    const entry = ["people_by_email", "e1@example.com"];
    await kv.set(entry, "gone");
    let reads = 0;
    // The first read shows which row the entry names. The second one reads that row too.
    const busy = busyKv(kv, async (key) => {
      if (key?.[0] === "people" && key[1] === "twin" && ++reads === 2) await kv.set(entry, "p0001");
    });
    const { model } = await contextOf(kv);
    const indexes = model.indexes.filter(({ name }) => name === "byEmail");
    const { findings } = await verified(busy, { indexes, onlyIndexes: true });
    expect(reads).toBe(3);
    const ofTwin = findings.filter(({ primaryKey }) => primaryKey?.[0] === "twin");
    expect(ofTwin).toMatchObject([{ kind: "mismatched", heldBy: ["p0001"] }]);
  });

  it("reports and repairs nothing while others write", async () => {
    await fill(kv, 200);
    const db = await openPeople(kv);
    let isRunning = true;
    let writes = 0;
    const write = async (writer: number) => {
      for (let n = writer; isRunning; n += 4) {
        const id = person((n * 97) % 200).id;
        const data = { name: `g${n}`, email: `G${n}@example.com`, tags: [`t${n % 5}`], visits: n };
        await db.people.update({ where: { id }, data }).catch((error: unknown) => {
          if ((error as { code?: string }).code !== "KW_ROW_NOT_FOUND") throw error;
        });
        const { id: created } = await db.people.create({
          data: { ...person(n + 10_000), id: `w${n}`, email: `W${n}@example.com` },
        });
        if (n % 3 === 0) await db.people.delete({ where: { id: created } });
        writes++;
        await new Promise((resolve) => setImmediate(resolve));
      }
    };
    const writers = [0, 1, 2, 3].map(write);
    try {
      for (const repair of [false, true]) {
        const result = await verified(kv, { repair, batchRows: 50 });
        expect(result).toMatchObject({ findings: [], counts: nothing, repaired: 0 });
      }
    } finally {
      isRunning = false;
      await Promise.all(writers);
    }
    expect(writes).toBeGreaterThan(20);
    await expectIndexesToMatch(kv, Person);
  });

  it("repairs while others change the same rows, and undoes none of their changes", async () => {
    await fill(kv, 60);
    for (let i = 0; i < 60; i += 2) {
      await kv.delete(["people_by_name", person(i).name, person(i).id]);
      await kv.set(["people_by_name", `stale${i}`, person(i).id], person(i).id);
      await kv.delete(["people_by_email", person(i).email.toLowerCase()]);
    }
    const db = await openPeople(kv);
    const context = await contextOf(kv);
    const lease = (await takeLease(kv, { wait: false })) as Lease;
    let n = 0;
    // Before each commit of the run another row is changed, which may be one that it is about to
    // repair.
    const commit = lease.commit.bind(lease);
    lease.commit = async (operation) => {
      const { id } = person((n++ * 14) % 60);
      await db.people.update({ where: { id }, data: { name: `new${n}`, email: `N${n}@e.com` } });
      return await commit(operation);
    };
    const run = createRun(lease, {});
    const result = await verifyModel(context, run, { repair: true });
    expect(result).not.toBe("stopped");
    expect(n).toBeGreaterThan(3);
    await lease.release();
    await expectIndexesToMatch(kv, Person);
  });

  it("continues after a crash after any of its commits", async () => {
    const commits = await crashAtEachCommit(async (at) => {
      const fresh = await openKv();
      try {
        await fill(fresh, 12);
        for (let i = 0; i < 12; i += 4) {
          await fresh.delete(["people_by_name", person(i).name, person(i).id]);
          await fresh.set(["people_by_email", `stale${i}@example.com`], person(i).id);
          await fresh.set(["people_by_email", `e${i + 1}@example.com`], person(i).id);
        }
        const options = { repair: true, saveEvery: 24, batchRows: 6 };
        const run = verify(crashingKv(fresh, at, "after"), options);
        const result = await run.catch((error: unknown) => error);
        if (!(result instanceof Crash)) return false;
        await verified(fresh, options);
        await expectIndexesToMatch(fresh, Person);
        expect(await ownKeys(fresh)).toEqual([]);
        return true;
      } finally {
        await fresh.close();
      }
    });
    expect(commits).toBeGreaterThan(10);
  });

  it("is gone on with where it was stopped, and then tells all that was found", async () => {
    await fill(kv, 400);
    for (const i of [3, 140, 360]) {
      await kv.delete(["people_by_name", person(i).name, person(i).id]);
      // Nobody has it by right: it is mismatched, and not dangling on top of that.
      await kv.set(["people_by_email", `e${i}@example.com`], person(i + 1).id);
    }
    const stops = async () => {
      const looked: number[] = [];
      for (;;) {
        const stop = new AbortController();
        let reports = 0;
        const onProgress = ({ phase, done }: MigrationProgress) => {
          expect(phase).toBe("verifying");
          looked.push(done);
          if (++reports === 3) stop.abort();
        };
        const result = await verify(kv, { signal: stop.signal, onProgress, batchRows: 100 });
        if (result !== "stopped") return { result, reports: looked.length };
      }
    };
    const { result, reports } = await stops();
    const whole = await verified(kv);
    expect(result).toEqual(whole);
    expect(whole.counts).toEqual({ missing: 3, mismatched: 3, dangling: 0 });
    expect(reports).toBeGreaterThan(20);
    expect(await ownKeys(kv)).toEqual([]);
  });

  it("finds all that is wrong if it was stopped in each of its phases", async () => {
    await fill(kv, 400);
    for (const i of [3, 140, 360]) {
      await kv.delete(["people_by_name", person(i).name, person(i).id]);
    }
    const stopIn = async (phase: "sum" | "compare") => {
      const stop = new AbortController();
      let before = 0;
      const onProgress = ({ done }: MigrationProgress) => {
        // The second phase begins at the first row again.
        if (phase === "sum" ? done > 0 : done === 0 && before > 0) stop.abort();
        before = done;
      };
      expect(await verify(kv, { signal: stop.signal, onProgress, batchRows: 100 })).toBe("stopped");
      const { value } = await kv.get(["__keywright", "verifying", "people"]);
      expect(value).toMatchObject({ phase });
    };
    await stopIn("sum");
    await stopIn("compare");
    expect((await verified(kv)).counts).toEqual({ ...nothing, missing: 3 });
  });

  it("begins anew where something else is asked for than what was stopped", async () => {
    await fill(kv, 200);
    await kv.delete(["people_by_name", person(2).name, person(2).id]);
    const stop = new AbortController();
    let reports = 0;
    const onProgress = () => void (++reports === 50 && stop.abort());
    expect(await verify(kv, { signal: stop.signal, onProgress, batchRows: 50 })).toBe("stopped");
    // It has come past what it would have repaired.
    const state = (await kv.get(["__keywright", "verifying", "people"])).value;
    expect(state).toMatchObject({ phase: "compare", counts: { missing: 1 } });
    const result = await verified(kv, { repair: true });
    expect(result).toMatchObject({ rows: 200, repaired: 1, counts: { ...nothing, missing: 1 } });
    expect(await ownKeys(kv)).toEqual([]);
  });

  it("refuses to repair by a program that does not know all that the database keeps up", async () => {
    await fill(kv, 5);
    await kv.delete(["people_by_name", "b1", "p0001"]);
    const { byInitial: _, ...indexes } = Person.indexes;
    const Older = defineModel({ ...Person, indexes });
    const db = await createDatabase({ kv, models: { people: Older } });
    const context = tableContexts(db).get("people")!;
    const lease = (await takeLease(kv, { wait: false })) as Lease;
    const run = createRun(lease, {});
    const refused = verifyModel(context, run, { repair: true });
    expect((await rejection(refused)).code).toBe("KW_STALE_SCHEMA");
    const looked = await verifyModel(context, run, { repair: false });
    expect(looked).toMatchObject({ counts: { ...nothing, missing: 1 } });
    await lease.release();
  });

  describe("of a model with counters", () => {
    const Counted = defineModel({
      name: "people",
      schema: Person.schema,
      primaryKey: "id",
      count: true,
      indexes: { byVisits: { key: "visits", count: true }, byName: { key: "name" } },
    });
    const open = (on: Kv) => createDatabase({ kv: on, models: { people: Counted } });
    const counts = async (db: Awaited<ReturnType<typeof open>>) => [
      await db.people.count(),
      await db.people.count({ where: { visits: 3 } }),
    ];

    /** Three rows of the program, and one that was written by hand. */
    async function fillCounted() {
      const db = await open(kv);
      for (const i of [0, 1, 3]) await db.people.create({ data: person(i) });
      await kv.set(["people", person(10).id], person(10));
      return db;
    }

    it("counts again after a repair", async () => {
      const db = await fillCounted();
      const looked = await verifyIndexes(db);
      expect(looked.status).toBe("damaged");
      expect(await counts(db)).toEqual([3, 1]);
      expect((await verifyIndexes(db, { repair: true })).status).toBe("repaired");
      await expectIndexesToMatch(kv, Counted);
      expect(await counts(db)).toEqual([4, 2]);
      for (const i of [0, 1, 3, 10]) await db.people.delete({ where: { id: person(i).id } });
      expect(await counts(db)).toEqual([0, 0]);
      expect((await ownKeys(kv)).filter(([, kind]) => kind !== "count")).toEqual([]);
    });

    it("counts again if a counter is wrong, although the indexes match the rows", async () => {
      const db = await fillCounted();
      await verifyIndexes(db, { repair: true });
      const { id, visits, name } = person(3);
      for (const key of [
        ["people", id],
        ["people_by_visits", visits, id],
        ["people_by_name", name, id],
      ])
        await kv.delete(key);
      expect((await verifyIndexes(db, { recount: true })).status).toBe("damaged");
      expect(await counts(db)).toEqual([4, 2]);
      expect((await verifyIndexes(db, { repair: true })).status).toBe("repaired");
      expect(await counts(db)).toEqual([3, 1]);
      await kv.atomic().sum(["__keywright", "count", "people"], 7n).commit();
      expect((await verifyIndexes(db, { repair: true, recount: true })).status).toBe("clean");
      expect(await counts(db)).toEqual([3, 1]);
    });

    it("leaves the counters alone where nothing was repaired", async () => {
      const db = await open(kv);
      for (const i of [0, 1, 3]) await db.people.create({ data: person(i) });
      const catalog = ["__keywright", "catalog", "people"];
      const { versionstamp } = await kv.get(catalog);
      expect((await verifyIndexes(db, { repair: true })).status).toBe("clean");
      expect((await kv.get(catalog)).versionstamp).toBe(versionstamp);
    });

    it("counts again where it crashed after any commit", async () => {
      await fillCounted();
      const entries: [KvKey, unknown][] = [];
      for await (const { key, value } of kv.list({ prefix: [] })) entries.push([key, value]);
      const commits = await crashAtEachCommit(async (at) => {
        const copy = await openKv();
        try {
          for (const [key, value] of entries) await copy.set(key, value);
          const first = verifyIndexes(await open(crashingKv(copy, at, "after")), { repair: true });
          const status = await first.then(
            (result) => result.status,
            (error: unknown) => {
              if (error instanceof Crash) return "crashed";
              throw error;
            },
          );
          await copy.delete(["__keywright", "lease"]);
          const db = await open(copy);
          await verifyIndexes(db, { repair: true });
          await expectIndexesToMatch(copy, Counted);
          expect(await counts(db)).toEqual([4, 2]);
          return status === "crashed";
        } finally {
          await copy.close();
        }
      });
      expect(commits).toBeGreaterThan(3);
    });
  });

  describe("of a model with indexes, counters and copied fields", () => {
    const Team = defineModel({
      name: "teams",
      schema: z.object({ id: z.string(), name: z.string() }),
      primaryKey: "id",
    });
    const Member = defineModel({
      name: "members",
      schema: z.object({ id: z.string(), teamId: z.string(), team: z.string().default("") }),
      primaryKey: "id",
      count: true,
      indexes: { byTeam: { key: "team", count: true }, byTeamId: { key: "teamId", ranked: true } },
      relations: { of: belongsTo("teams", "teamId", { copy: { team: "name" } }) },
    });
    const open = (on: Kv) => createDatabase({ kv: on, models: { teams: Team, members: Member } });
    const idOf = (i: number) => `m${String(i).padStart(4, "0")}`;

    async function fillMembers() {
      const db = await open(kv);
      await db.teams.createMany({ data: [0, 1, 2].map((i) => ({ id: `t${i}`, name: `T${i}` })) });
      const data = Array.from({ length: 900 }, (_, i) => ({ id: idOf(i), teamId: `t${i % 3}` }));
      await db.members.createMany({ data });
      return db;
    }

    it("reads each page of rows once", async () => {
      await fillMembers();
      const { kv: counted } = countingKv(kv);
      const pages: (readonly unknown[])[] = [];
      const list: Kv["list"] = (...given) => {
        const [selector, options] = given;
        const [place] = "prefix" in selector ? selector.prefix : selector.start;
        if (place === "members" && options?.limit !== 1) pages.push(given);
        return counted.list(...given);
      };
      const noting = new Proxy(counted, {
        get: (target, property) => (property === "list" ? list : Reflect.get(target, property)),
      });
      const { models } = await verifyIndexes(await open(noting), { models: ["members"] });
      expect(models).toMatchObject([{ rows: 900, entries: 1800, counters: { count: 0 } }]);
      expect(pages).toHaveLength(2);
    });

    it("finds each kind of damage, although it is stopped after every page", async () => {
      await fillMembers();
      await kv.delete(["members_by_team", "T2", idOf(2)]);
      for (const i of [1, 700]) {
        await kv.set(["members", idOf(i)], { id: idOf(i), teamId: `t${i % 3}`, team: "T2" });
      }
      // A difference that the lower 32 bits do not show.
      const count = ["__keywright", "count", "members"];
      await kv
        .atomic()
        .sum(count, 2n ** 33n)
        .commit();
      await kv.atomic().sum(["__keywright", "count", "members_by_team", "T0"], 2n).commit();
      const verifyInParts = async (options: { repair?: boolean }) => {
        for (let stops = 0; stops < 100; stops++) {
          const stop = new AbortController();
          let reports = 0;
          const onProgress = () => void (++reports === 2 && stop.abort());
          const run = { ...options, models: ["members"], signal: stop.signal, onProgress };
          const result = await verifyIndexes(await open(kv), run);
          if (result.status !== "stopped") return { ...result, stops };
        }
        throw new Error("it was always stopped");
      };
      const whole = await verifyIndexes(await open(kv), { models: ["members"] });
      const inParts = await verifyInParts({});
      expect(inParts.stops).toBeGreaterThan(5);
      expect(inParts).toMatchObject({ status: "damaged", models: whole.models });
      expect(whole.models).toMatchObject([
        {
          copies: { count: 2, repaired: 0 },
          // That of T2 includes the row whose entry was deleted.
          counters: { count: 3, first: [{ parts: ["T0"] }, { parts: ["T2"] }, { parts: [] }] },
          counts: { missing: 3, dangling: 2, mismatched: 0 },
        },
      ]);
      expect(await verifyIndexes(await open(kv), { repair: true })).toMatchObject({
        status: "repaired",
      });
      await expectIndexesToMatch(kv, Member);
      expect(await verifyIndexes(await open(kv))).toMatchObject({ status: "clean" });
    });
  });

  it("lets live queries of a repaired index notice", async () => {
    const Live = defineModel({ ...Person, live: true });
    const db = await createDatabase({ kv, models: { people: Live } });
    await db.people.create({ data: person(1) });
    await kv.delete(["people_by_name", "b1", "p0001"]);
    const mark = ["__keywright", "changes", "people"];
    const before = (await kv.get(mark)).versionstamp;
    expect((await verified(kv, { repair: true })).repaired).toBe(1);
    expect((await kv.get(mark)).versionstamp).not.toBe(before);
  });
});

it("finds damage exactly where there is some, and repairs all of it", async () => {
  const number = fc.nat({ max: 19 });
  const keyOf = fc.oneof(
    number.map((i) => ["people_by_name", person(i).name, person(i).id]),
    number.map((i) => ["people_by_email", person(i).email.toLowerCase()]),
    number.map((i) => ["people_by_tag", "x", person(i).id]),
    number.map((i) => ["people_by_name_copy", person(i).name, person(i).id]),
    number.map((i) => ["people_by_visits", person(i).visits, person(i).id]),
    number.map((i) => ["people_by_initial", "z", person(i).id]),
  );
  const value = fc.oneof(
    number.map((i) => person(i).id as unknown),
    number.map((i) => person(i) as unknown),
    fc.constantFrom<unknown>(null, 1, {}, []),
  );
  const step = fc.oneof(
    fc.record({ key: keyOf, value }),
    fc.record({ key: keyOf }),
    // Rows that go, and rows that change, without their entries.
    number.map((i) => ({ key: ["people", person(i).id] })),
    fc.tuple(number, number).map(([i, j]) => ({
      key: ["people", person(i).id],
      value: { ...person(j), id: person(i).id, email: `x${i}` },
    })),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const kv = await openKv();
      try {
        await fill(kv, 20);
        for (const change of steps) {
          if ("value" in change) await kv.set(change.key, change.value);
          else await kv.delete(change.key);
        }
        const isRight = await expectIndexesToMatch(kv, Person).then(
          () => true,
          () => false,
        );
        const found = await verified(kv);
        const { missing, dangling, mismatched } = found.counts;
        expect(missing + dangling + mismatched === 0).toBe(isRight);
        const repaired = await verified(kv, { repair: true });
        expect(repaired.repaired).toBe(missing + dangling + mismatched);
        await expectIndexesToMatch(kv, Person);
      } finally {
        await kv.close();
      }
    }),
    { numRuns: 25 },
  );
});

describe("sums of entries", () => {
  const { model } = { model: { primaryKey: ["id"] } } as unknown as TableContext;
  const part = fc.oneof(
    fc.string({ maxLength: 4 }),
    fc.integer(),
    fc.bigInt(),
    fc.boolean(),
    fc.uint8Array({ maxLength: 3 }),
  );
  const entry = fc.tuple(fc.array(part, { minLength: 1, maxLength: 3 }), part);

  it("are zero where both sides have the same entries, in whatever order", () => {
    const lists = fc
      .array(entry)
      .chain((entries) =>
        fc
          .shuffledSubarray(entries, { minLength: entries.length })
          .map((other) => ({ entries, other })),
      );
    fc.assert(
      fc.property(lists, ({ entries, other }) => {
        const sums = new Sums();
        for (const [key, pointer] of entries) sums.add(key, [pointer]);
        for (const [key, pointer] of other) sums.remove(model, key, pointer);
        expect(sums.areZero).toBe(true);
      }),
    );
  });

  it("differ at the key of every entry that one side does not have, also when they were stored", () => {
    fc.assert(
      fc.property(fc.array(entry), entry, part, (entries, [key, pointer], other) => {
        fc.pre(!Object.is(pointer, other) && typeof pointer !== "object");
        const sums = new Sums();
        for (const [some, id] of entries) sums.add(some, [id]);
        for (const [some, id] of entries) sums.remove(model, some, id);
        sums.add(key, [pointer]);
        if (typeof other !== "object") sums.remove(model, key, other);
        expect(sums.differsAt(key)).toBe(true);
        const stored = new Sums();
        for (const [i, piece] of sums.toPieces().entries()) {
          if (piece !== undefined) stored.setPiece(i, piece);
        }
        expect(stored.differsAt(key)).toBe(true);
        sums.remove(model, key, pointer);
        if (typeof other !== "object") sums.add(key, [other]);
        expect(sums.areZero).toBe(true);
      }),
      { numRuns: 50 },
    );
  });
});
