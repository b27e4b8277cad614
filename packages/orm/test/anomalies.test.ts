import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Kv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel, TransactionConflictError } from "../src/index.js";

// The anomalies of Adya, "Weak Consistency" (1999), as the steps of Hermitage
// (github.com/ept/hermitage), whose table `test` has the columns `id` and `value`.

const Row = defineModel({
  name: "test",
  schema: z.object({ id: z.string(), value: z.int() }),
  primaryKey: "id",
  count: true,
  indexes: {
    byValue: { key: "value" },
    byCounted: { key: ["value"], count: true, sum: ["value"] },
  },
});

function openModels(kv: Kv) {
  return createDatabase({ kv, models: { test: Row } });
}

type Database = Awaited<ReturnType<typeof openModels>>;
type Tx = Parameters<Parameters<Database["transaction"]>[0]>[0];
type Step = (tx: Tx) => Promise<void>;

let folder: string;
let kv: Kv;
let db: Database;

/** A transaction whose steps the test calls one after another. */
class Session {
  readonly #steps: Step[] = [];
  #wake = (): void => undefined;
  readonly #ended: Promise<"committed" | "refused">;

  constructor() {
    const body = async (tx: Tx): Promise<void> => {
      for (;;) {
        const step = this.#steps.shift();
        if (step === undefined) await new Promise<void>((resolve) => (this.#wake = resolve));
        else if (step === commit) return;
        else await step(tx);
      }
    };
    this.#ended = db.transaction(body, { maxAttempts: 1 }).then(
      () => "committed",
      (error: unknown) => {
        if (error instanceof TransactionConflictError || error === aborted) return "refused";
        throw error;
      },
    );
    // Awaited by `commit`.
    this.#ended.catch(() => undefined);
  }

  /** Makes a step and returns its result. It is undefined if the transaction is refused. */
  async do<T>(call: (tx: Tx) => Promise<T>): Promise<T | undefined> {
    let result: T | undefined;
    const made = new Promise<void>((resolve, reject) => {
      this.#add(async (tx) => {
        try {
          result = await call(tx);
          resolve();
        } catch (error) {
          reject(error as Error);
          throw error;
        }
      });
    });
    await Promise.race([made.catch(ignoreConflict), this.#ended]);
    return result;
  }

  async get(id: string): Promise<number | undefined> {
    return await this.do(async (tx) => (await tx.test.findUnique({ where: { id } }))?.value);
  }

  async set(id: string, value: number): Promise<void> {
    await this.do((tx) => tx.test.update({ where: { id }, data: { value } }));
  }

  async commit(): Promise<"committed" | "refused"> {
    this.#add(commit);
    return await this.#ended;
  }

  async abort(): Promise<void> {
    await this.do(async () => {
      throw aborted;
    });
    await this.#ended;
  }

  #add(step: Step): void {
    this.#steps.push(step);
    this.#wake();
  }
}

const commit: Step = async () => undefined;
const aborted = new Error("aborted by the test");

function ignoreConflict(error: unknown): void {
  if (!(error instanceof TransactionConflictError) && error !== aborted) throw error;
}

function begin(): Session {
  return new Session();
}

async function stored(): Promise<Record<string, number>> {
  const { items } = await db.test.scan();
  return Object.fromEntries(items.map(({ id, value }) => [id, value]));
}

/** The ways to read `select * from test where value = …`. All must notice what others change. */
const predicateReads: Record<string, (tx: Tx, value: number) => Promise<unknown>> = {
  findMany: async (tx, value) => await tx.test.findMany({ index: "byValue", where: { value } }),
  findFirst: async (tx, value) => await tx.test.findFirst({ index: "byValue", where: { value } }),
  exists: async (tx, value) => await tx.test.exists({ index: "byValue", where: { value } }),
  count: async (tx, value) => await tx.test.count({ index: "byCounted", where: { value } }),
  "count of a range": async (tx, value) =>
    await tx.test.count({ index: "byCounted", where: { value: { gte: value, lte: value } } }),
  aggregate: async (tx, value) =>
    await tx.test.aggregate({ index: "byCounted", where: { value }, sum: { value: true } }),
  scan: async (tx, value) => {
    const { items } = await tx.test.scan();
    return items.filter((row) => row.value === value);
  },
};

function findValue(value: number) {
  return async (tx: Tx) => (await tx.test.findMany({ index: "byValue", where: { value } })).items;
}

describe.each(["memory", "LevelDB"])("on %s", (engine) => {
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "keywright-"));
    kv = engine === "memory" ? await openKv() : await openKv(folder, { durability: "relaxed" });
    db = await openModels(kv);
    await db.test.createMany({
      data: [
        { id: "1", value: 10 },
        { id: "2", value: 20 },
      ],
    });
  });
  afterEach(async () => {
    await kv.close();
    await rm(folder, { recursive: true });
  });

  it("G0: writes of two transactions are not mixed (dirty writes)", async () => {
    const [t1, t2] = [begin(), begin()];
    await t1.set("1", 11);
    await t2.set("1", 12);
    await t1.set("2", 21);
    expect(await t1.commit()).toBe("committed");
    expect(await stored()).toEqual({ 1: 11, 2: 21 });
    await t2.set("2", 22);
    expect(await t2.commit()).toBe("refused");
    expect(await stored()).toEqual({ 1: 11, 2: 21 });
  });

  it("G1a: a transaction does not read what is aborted (aborted reads)", async () => {
    const [t1, t2] = [begin(), begin()];
    await t1.set("1", 101);
    expect(await t2.get("1")).toBe(10);
    await t1.abort();
    expect(await t2.get("1")).toBe(10);
    expect(await t2.do(findValue(101))).toEqual([]);
    expect(await t2.commit()).toBe("committed");
    expect(await stored()).toEqual({ 1: 10, 2: 20 });
  });

  it("G1b: a transaction does not read what is replaced (intermediate reads)", async () => {
    const [t1, t2] = [begin(), begin()];
    await t1.set("1", 101);
    expect(await t2.get("1")).toBe(10);
    await t1.set("1", 11);
    expect(await t1.commit()).toBe("committed");
    expect(await t2.get("1")).toBe(10);
    expect(await begin().get("1")).toBe(11);
    expect(await t2.commit()).toBe("committed");
  });

  it("G1c: two transactions do not read each other's writes (circular flow)", async () => {
    const [t1, t2] = [begin(), begin()];
    await t1.set("1", 11);
    await t2.set("2", 22);
    expect(await t1.get("2")).toBe(20);
    expect(await t2.get("1")).toBe(10);
    expect(await t1.commit()).toBe("committed");
    expect(await t2.commit()).toBe("refused");
    expect(await stored()).toEqual({ 1: 11, 2: 20 });
  });

  it("OTV: what was observed of a transaction does not vanish", async () => {
    const [t1, t2, t3] = [begin(), begin(), begin()];
    await t1.set("1", 11);
    await t1.set("2", 19);
    await t2.set("1", 12);
    expect(await t1.commit()).toBe("committed");
    expect(await t3.get("1")).toBe(11);
    await t2.set("2", 18);
    expect(await t3.get("2")).toBe(19);
    expect(await t2.commit()).toBe("refused");
    expect(await t3.get("2")).toBe(19);
    expect(await t3.get("1")).toBe(11);
    expect(await t3.commit()).toBe("committed");
  });

  it.each(Object.keys(predicateReads))("PMP: %s sees no row appear", async (name) => {
    const read = predicateReads[name]!;
    const [t1, t2, t3] = [begin(), begin(), begin()];
    const before = await t1.do((tx) => read(tx, 30));
    expect(await t3.do((tx) => read(tx, 30))).toEqual(before);
    await t2.do((tx) => tx.test.create({ data: { id: "3", value: 30 } }));
    expect(await t2.commit()).toBe("committed");
    expect(await t1.do((tx) => read(tx, 30))).toEqual(before);
    expect(await t1.commit()).toBe("committed");
    // A transaction that writes because of what it has read comes after the one that it missed.
    await t3.set("1", 11);
    expect(await t3.commit()).toBe("refused");
    expect(await begin().do((tx) => read(tx, 30))).not.toEqual(before);
  });

  it("PMP for write predicates: deleteMany and updateMany do not miss a row", async () => {
    const [t1, t2] = [begin(), begin()];
    // update test set value = value + 10, and delete from test where value = 20
    await t1.do((tx) =>
      tx.test.updateMany({
        index: "byValue",
        where: { value: { gte: 0 } },
        data: { value: { increment: 10 } },
      }),
    );
    const deleted = await t2.do((tx) =>
      tx.test.deleteMany({ index: "byValue", where: { value: 20 } }),
    );
    expect(deleted).toMatchObject({ count: 1 });
    expect(await t1.commit()).toBe("committed");
    expect(await t2.commit()).toBe("refused");
    expect(await stored()).toEqual({ 1: 20, 2: 30 });
  });

  it("PMP for write predicates: an empty deleteMany is refused if a row appears", async () => {
    const [t1, t2] = [begin(), begin()];
    const deleted = await t1.do((tx) =>
      tx.test.deleteMany({ index: "byValue", where: { value: 30 } }),
    );
    expect(deleted).toMatchObject({ count: 0 });
    await t1.set("1", 11);
    await t2.do((tx) => tx.test.create({ data: { id: "3", value: 30 } }));
    expect(await t2.commit()).toBe("committed");
    expect(await t1.commit()).toBe("refused");
    expect(await stored()).toEqual({ 1: 10, 2: 20, 3: 30 });
  });

  it("P4: no update is lost", async () => {
    const [t1, t2] = [begin(), begin()];
    expect(await t1.get("1")).toBe(10);
    expect(await t2.get("1")).toBe(10);
    await t1.set("1", 11);
    await t2.set("1", 11);
    expect(await t1.commit()).toBe("committed");
    expect(await t2.commit()).toBe("refused");
  });

  it("P4 with operations: no increment is lost", async () => {
    const increment: Step = async (tx) => {
      await tx.test.update({ where: { id: "1" }, data: { value: { increment: 1 } } });
    };
    const [t1, t2] = [begin(), begin()];
    await t1.do(increment);
    await t2.do(increment);
    expect(await t1.commit()).toBe("committed");
    expect(await t2.commit()).toBe("refused");
    await db.transaction(increment);
    expect(await stored()).toEqual({ 1: 12, 2: 20 });
  });

  it("G-single: a transaction sees all of another one or nothing (read skew)", async () => {
    const [t1, t2] = [begin(), begin()];
    expect(await t1.get("1")).toBe(10);
    expect(await t2.get("1")).toBe(10);
    expect(await t2.get("2")).toBe(20);
    await t2.set("1", 12);
    await t2.set("2", 18);
    expect(await t2.commit()).toBe("committed");
    expect(await t1.get("2")).toBe(20);
    expect(await t1.commit()).toBe("committed");
  });

  it("G-single with predicate dependencies: the predicate sees the same state", async () => {
    const [t1, t2] = [begin(), begin()];
    expect(await t1.do(findValue(10))).toHaveLength(1);
    await t2.set("1", 12);
    expect(await t2.commit()).toBe("committed");
    expect(await t1.do(findValue(12))).toEqual([]);
    expect(await t1.do(findValue(10))).toHaveLength(1);
    expect(await t1.do((tx) => tx.test.count())).toBe(2);
    expect(await t1.commit()).toBe("committed");
  });

  it("G-single with write predicates: deleteMany does not act on an old state", async () => {
    const [t1, t2] = [begin(), begin()];
    expect(await t1.get("1")).toBe(10);
    await t2.set("1", 12);
    await t2.set("2", 18);
    expect(await t2.commit()).toBe("committed");
    await t1.do((tx) => tx.test.deleteMany({ index: "byValue", where: { value: 20 } }));
    expect(await t1.commit()).toBe("refused");
    expect(await stored()).toEqual({ 1: 12, 2: 18 });
  });

  it("G2-item: two transactions do not each write what the other reads (write skew)", async () => {
    const [t1, t2] = [begin(), begin()];
    for (const session of [t1, t2]) {
      expect(await session.get("1")).toBe(10);
      expect(await session.get("2")).toBe(20);
    }
    await t1.set("1", 11);
    await t2.set("2", 21);
    expect(await t1.commit()).toBe("committed");
    expect(await t2.commit()).toBe("refused");
    expect(await stored()).toEqual({ 1: 11, 2: 20 });
  });

  it.each(Object.keys(predicateReads))(
    "G2: %s of two transactions and a row of each",
    async (name) => {
      const read = predicateReads[name]!;
      const [t1, t2] = [begin(), begin()];
      const before = await t1.do((tx) => read(tx, 30));
      expect(await t2.do((tx) => read(tx, 30))).toEqual(before);
      await t1.do((tx) => tx.test.create({ data: { id: "3", value: 30 } }));
      await t2.do((tx) => tx.test.create({ data: { id: "4", value: 30 } }));
      expect(await t1.commit()).toBe("committed");
      expect(await t2.commit()).toBe("refused");
      expect(await stored()).toEqual({ 1: 10, 2: 20, 3: 30 });
    },
  );

  it.each(Object.keys(predicateReads))("G2: %s notices a row that leaves", async (name) => {
    const read = predicateReads[name]!;
    const [t1, t2] = [begin(), begin()];
    await t1.do((tx) => read(tx, 20));
    await t2.do((tx) => read(tx, 10));
    // Each takes away the row that the other has found.
    await t1.do((tx) => tx.test.delete({ where: { id: "1" } }));
    await t2.set("2", 25);
    expect(await t1.commit()).toBe("committed");
    expect(await t2.commit()).toBe("refused");
    expect(await stored()).toEqual({ 2: 20 });
  });

  it("G2 two edges: a cycle of two anti-dependencies and a reader is refused", async () => {
    // Fekete, O'Neil and O'Neil, "A read-only transaction anomaly under snapshot isolation" (2004)
    const t1 = begin();
    expect(await t1.do(async (tx) => (await tx.test.scan()).items)).toHaveLength(2);
    const t2 = begin();
    await t2.do((tx) => tx.test.update({ where: { id: "2" }, data: { value: { increment: 5 } } }));
    expect(await t2.commit()).toBe("committed");
    const t3 = begin();
    expect(await t3.get("1")).toBe(10);
    expect(await t3.get("2")).toBe(25);
    expect(await t3.commit()).toBe("committed");
    await t1.set("1", 0);
    expect(await t1.commit()).toBe("refused");
    expect(await stored()).toEqual({ 1: 10, 2: 25 });
  });

  it("begins after a transaction has ended: its writes are seen (real time)", async () => {
    for (let value = 11; value < 31; value++) {
      const t1 = begin();
      await t1.set("1", value);
      expect(await t1.commit()).toBe("committed");
      const t2 = begin();
      expect(await t2.get("1")).toBe(value);
      expect(await t2.do(findValue(value))).not.toEqual([]);
      expect(await t2.commit()).toBe("committed");
    }
  });
});
