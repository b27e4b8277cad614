import {
  denoOrder,
  encodeKey,
  type Kv,
  type KvEntry,
  type KvKey,
  type KvListSelector,
  KvU64,
  openKv,
  specificationOrder,
} from "@keywright/core";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runTransaction } from "../src/state/transaction/run-transaction.js";
import { TransactionKv } from "../src/state/transaction/transaction-kv.js";
import { denoKv, withoutViews } from "./faulty-kv.js";
import { openDenoKv } from "./open-deno-kv.js";

const openDenoMode = (): Promise<Kv> => openKv(":memory:", { compat: "deno" });

let kv: Kv;
/** The same database without the means to read one state and to check ranges. */
let plainKv: Kv;
beforeEach(async () => {
  kv = await openKv();
  plainKv = withoutViews(kv);
});
afterEach(async () => {
  await kv.close();
});

/** What a promise rejects with; fails where it does not. */
async function rejection(promise: Promise<unknown>): Promise<Error & { code?: string }> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error("it did not reject");
}

/** The same database with other members. */
function kvWith(kv: Kv, members: object): Kv {
  return new Proxy(kv, {
    get(target, property) {
      if (Object.hasOwn(members, property)) return Reflect.get(members, property);
      const member: unknown = Reflect.get(target, property, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** Something to wait for. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

async function collect(iterator: AsyncIterable<KvEntry<unknown>>): Promise<KvEntry<unknown>[]> {
  const entries: KvEntry<unknown>[] = [];
  for await (const entry of iterator) entries.push(entry);
  return entries;
}

/** A number that is stored for sum, min and max, as a bigint, whichever class it is of. */
function plain(value: unknown): unknown {
  const isU64 = value !== null && typeof value === "object" && "value" in value;
  return isU64 ? (value as { value: bigint }).value : value;
}

const keys: KvKey[] = [
  ["a"],
  ["a", new Uint8Array()],
  ["a", Uint8Array.of(0, 255)],
  ["a", "x"],
  ["a", "x", 0],
  ["a", "x\0"],
  ["a", "y".repeat(300)],
  ["a", -1.5],
  ["a", 7],
  ["a", -7n],
  ["a", 10n],
  ["a", true],
  ["a\0b"],
  ["b"],
];

const selectors: KvListSelector[] = [
  { prefix: [] },
  { prefix: ["a"] },
  { prefix: ["a", "x"] },
  { prefix: ["a"], start: ["a", "x", 0] },
  { prefix: ["a"], end: ["a", true] },
  { start: ["a"], end: ["b"] },
  { start: ["a", "x"], end: ["a", "x", 5] },
];

type Step =
  | { type: "set"; key: number; value: unknown }
  | { type: "delete"; key: number }
  | { type: "get"; keys: number[] }
  | { type: "number"; operation: "sum" | "min" | "max"; key: number; operand: bigint }
  | { type: "check"; key: number; expected: "absent" | "current" | "wrong"; value: number }
  | { type: "list"; selector: number; reverse: boolean; limit: number; batchSize: number };

const key = fc.nat({ max: keys.length - 1 });
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((n) => new KvU64(n));
const value = fc.oneof(fc.integer(), fc.constant(null), fc.record({ n: fc.integer() }));
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ type: fc.constant("set" as const), key, value: fc.oneof(value, u64) }),
  fc.record({ type: fc.constant("delete" as const), key }),
  fc.record({ type: fc.constant("get" as const), keys: fc.array(key, { maxLength: 14 }) }),
  fc.record({
    type: fc.constant("number" as const),
    operation: fc.constantFrom("sum" as const, "min" as const, "max" as const),
    key,
    operand: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  }),
  fc.record({
    type: fc.constant("check" as const),
    key,
    expected: fc.constantFrom("absent" as const, "current" as const, "wrong" as const),
    value: fc.integer(),
  }),
  fc.record({
    type: fc.constant("list" as const),
    selector: fc.nat({ max: selectors.length - 1 }),
    reverse: fc.boolean(),
    limit: fc.integer({ min: 1, max: 14 }),
    batchSize: fc.integer({ min: 1, max: 5 }),
  }),
);

/** What a key-value database is, in a few lines: values by the index of their key in `keys`. */
class MapModel {
  readonly values = new Map<number, unknown>();
  readonly #ids: string[];

  constructor(order: typeof denoOrder) {
    this.#ids = keys.map((k) => Buffer.from(encodeKey(k, order)).toString("hex"));
    this.order = order;
  }
  readonly order: typeof denoOrder;

  list(selector: KvListSelector, reverse: boolean): number[] {
    const { prefix, start, end } = selector as { prefix?: KvKey; start?: KvKey; end?: KvKey };
    const id = (k: KvKey) => Buffer.from(encodeKey(k, this.order)).toString("hex");
    const found = [...this.values.keys()]
      .filter((index) => {
        const own = this.#ids[index]!;
        const parts = keys[index]!;
        if (prefix !== undefined) {
          if (parts.length <= prefix.length) return false;
          if (id(parts.slice(0, prefix.length)) !== id(prefix)) return false;
        }
        return (start === undefined || own >= id(start)) && (end === undefined || own < id(end));
      })
      .sort((a, b) => (this.#ids[a]! < this.#ids[b]! ? -1 : 1));
    return reverse ? found.reverse() : found;
  }

  combine(operation: "sum" | "min" | "max", index: number, operand: bigint): void {
    const before = this.values.get(index);
    const stored = before instanceof KvU64 ? before.value : undefined;
    let number = operand;
    if (stored !== undefined) {
      if (operation === "sum") number = (stored + operand) % 2n ** 64n;
      if (operation === "min") number = stored < operand ? stored : operand;
      if (operation === "max") number = stored > operand ? stored : operand;
    }
    this.values.set(index, new KvU64(number));
  }

  isNoNumber(index: number): boolean {
    return this.values.has(index) && !(this.values.get(index) instanceof KvU64);
  }
}

async function runStep(tx: TransactionKv, model: MapModel, step: Step): Promise<void> {
  const { values } = model;
  switch (step.type) {
    case "set":
      await tx.set(keys[step.key]!, step.value);
      values.set(step.key, step.value);
      return;
    case "delete":
      await tx.delete(keys[step.key]!);
      values.delete(step.key);
      return;
    case "get": {
      const entries = await tx.getMany<unknown[]>(step.keys.map((index) => keys[index]!));
      expect(entries.map(({ value }) => plain(value))).toEqual(
        step.keys.map((index) => plain(values.get(index) ?? null)),
      );
      expect(entries.map((entry) => entry.versionstamp === null)).toEqual(
        step.keys.map((index) => !values.has(index)),
      );
      expect(entries.map((entry) => entry.key)).toEqual(step.keys.map((index) => keys[index]));
      return;
    }
    case "number":
      // Of what the transaction has not read it cannot know whether it is a number.
      if (model.isNoNumber(step.key)) return;
      await tx.atomic()[step.operation](keys[step.key]!, step.operand).commit();
      model.combine(step.operation, step.key, step.operand);
      return;
    case "check": {
      const { versionstamp } = await tx.get(keys[step.key]!);
      const stamps = { absent: null, current: versionstamp, wrong: "0".repeat(20) };
      const check = { key: keys[step.key]!, versionstamp: stamps[step.expected] };
      const isPresent = values.has(step.key);
      const holds = { absent: !isPresent, current: true, wrong: false }[step.expected];
      const result = await tx.atomic().check(check).set(keys[step.key]!, step.value).commit();
      expect(result.ok).toBe(holds);
      if (holds) values.set(step.key, step.value);
      return;
    }
    case "list": {
      const selector = selectors[step.selector]!;
      const { reverse, limit, batchSize } = step;
      const first = tx.list(selector, { reverse, limit, batchSize });
      const page = await collect(first);
      const rest =
        page.length < limit
          ? []
          : await collect(tx.list(selector, { reverse, cursor: first.cursor }));
      const expected = model.list(selector, reverse);
      expect(page.length).toBe(Math.min(limit, expected.length));
      expect([...page, ...rest].map((entry) => [entry.key, plain(entry.value)])).toEqual(
        expected.map((index) => [keys[index], plain(values.get(index))]),
      );
    }
  }
}

describe.each([
  ["a database in memory", () => openKv() as Promise<Kv>, specificationOrder, 100, 300],
  ["a database in Deno's mode", openDenoMode, denoOrder, 100, 100],
  ["@deno/kv", openDenoKv, denoOrder, 10, 10],
])("on %s", (_name, open, order, checks, numRuns) => {
  it("a transaction sees, and then writes, what a Map would", async () => {
    const before = fc.uniqueArray(
      fc.tuple(key, fc.oneof(value, fc.bigInt({ min: 0n, max: 99n }))),
      {
        selector: ([index]) => index,
        maxLength: 8,
      },
    );
    const program = fc.array(step, { maxLength: 12 });
    const assumptions = fc.constantFrom("nothing" as const, "versions" as const, "all" as const);
    await fc.assert(
      fc.asyncProperty(before, program, assumptions, async (stored, steps, assumes) => {
        const kv = await open();
        try {
          const model = new MapModel(order);
          for (const [index, given] of stored) {
            const isNumber = typeof given === "bigint";
            if (isNumber) await kv.atomic().sum(keys[index]!, given).commit();
            else await kv.set(keys[index]!, given);
            model.values.set(index, isNumber ? new KvU64(given) : given);
          }
          // Each database takes numbers of its own class.
          const own = steps.filter(
            (s) => s.type !== "set" || order !== denoOrder || !(s.value instanceof KvU64),
          );
          const limits = { checks, mutations: 1000, keys: 10 };
          const tx = new TransactionKv(kvWith(kv, { limits }), { assumes });
          for (const s of own) await runStep(tx, model, s);
          try {
            expect(await tx.commit()).toMatchObject({ ok: true });
          } catch (error) {
            expect(error).toMatchObject({ code: "KW_LIMIT_EXCEEDED", limit: "checks", max: 10 });
            return;
          }
          const entries = await collect(kv.list({ prefix: [] }));
          expect(entries.map((entry) => [entry.key, plain(entry.value)])).toEqual(
            model.list({ prefix: [] }, false).map((i) => [keys[i], plain(model.values.get(i))]),
          );
        } finally {
          await kv.close();
        }
      }),
      { numRuns },
    );
  });

  it("a list by one entry at a time gets past a key that is its prefix", async () => {
    const kv = await open();
    await kv.set(["a"], 1);
    await kv.set(["a", "x"], 2);
    const list = new TransactionKv(kv).list({ prefix: ["a"] }, { batchSize: 1 });
    expect((await collect(list)).map((entry) => entry.key)).toEqual([["a", "x"]]);
    await kv.close();
  });

  it("money that is transferred at the same time neither comes nor goes", async () => {
    const kv = await open();
    try {
      const accounts = 4;
      for (let i = 0; i < accounts; i++) await kv.set(["account", i], 100);
      const transfer = (from: number, to: number, amount: number) =>
        runTransaction(kv, async (tx) => {
          const { value: source } = await tx.get<number>(["account", from]);
          await tx.set(["account", from], source! - amount);
          const { value: target } = await tx.get<number>(["account", to]);
          await tx.set(["account", to], target! + amount);
        });
      const total = () =>
        runTransaction(kv, async (tx) => {
          const entries = await collect(tx.list({ prefix: ["account"] }, { batchSize: 1 }));
          return entries.reduce((sum, entry) => sum + (entry.value as number), 0);
        });
      const totals: Promise<number>[] = [];
      const transfers = Array.from({ length: 40 }, (_, i) => {
        if (i % 8 === 0) totals.push(total());
        return transfer(i % accounts, (i * 3 + 1) % accounts, i);
      });
      await Promise.all(transfers);
      expect(new Set(await Promise.all(totals))).toEqual(new Set([400]));
      expect(await total()).toBe(400);
      // All of them, and each once.
      const expected = Array.from({ length: accounts }, () => 100);
      for (let i = 0; i < 40; i++) {
        expected[i % accounts]! -= i;
        expected[(i * 3 + 1) % accounts]! += i;
      }
      const entries = await collect(kv.list({ prefix: ["account"] }));
      expect(entries.map((entry) => entry.value)).toEqual(expected);
    } finally {
      await kv.close();
    }
  });
});

describe("reads", () => {
  it("end the attempt where a key is listed again and has changed", async () => {
    await kv.set(["a"], 1);
    let attempts = 0;
    const seen = await runTransaction(plainKv, async (tx) => {
      attempts++;
      const { value: first } = await tx.get(["a"]);
      if (attempts === 1) await kv.set(["a"], 2);
      const [again] = await collect(tx.list({ prefix: [] }));
      return [first, again?.value];
    });
    expect([seen, attempts]).toEqual([[2, 2], 2]);
  });

  it("that are made at once are one read", async () => {
    const calls: KvKey[][] = [];
    const getMany = (all: KvKey[]) => {
      calls.push(all);
      return kv.getMany(all);
    };
    await runTransaction(kvWith(plainKv, { getMany }), async (tx) => {
      const reads = await Promise.all([tx.get(["a"]), tx.getMany([["b"], ["c"]]), tx.get(["d"])]);
      expect(reads.flat().map(({ key }) => key)).toEqual([["a"], ["b"], ["c"], ["d"]]);
    });
    expect(calls).toEqual([[["a"], ["b"], ["c"], ["d"]]]);
  });

  it("see a key as they first read it, whatever becomes of the value", async () => {
    await kv
      .atomic()
      .set(["a"], { of: ["a"] })
      .set(["b"], { of: ["b"] })
      .commit();
    let attempts = 0;
    const seen = await runTransaction(plainKv, async (tx) => {
      attempts++;
      const [b] = await collect(tx.list({ prefix: [], start: ["b"] }));
      const { value: a } = await tx.get<{ of: string[] }>(["a"]);
      a?.of.push("changed");
      (b!.value as { of: string[] }).of.push("changed");
      if (attempts === 1) await kv.set(["a"], { of: ["other"] });
      const again = await tx.getMany<{ of: string[] }[]>([["a"], ["b"], ["c"]]);
      again[0]?.value?.of.push("changed");
      return [...again.slice(1), await tx.get(["a"])].map(({ value }) => value);
    });
    expect(seen).toEqual([{ of: ["b"] }, null, { of: ["other"] }]);
    expect(attempts).toBe(2);
  });

  it("stay ended where the function continues after that, even if the key is as it was again", async () => {
    const codes: unknown[] = [];
    let attempts = 0;
    await runTransaction(plainKv, async (tx) => {
      attempts++;
      await tx.get(["a"]);
      if (attempts > 1) {
        await tx.set(["b"], "second");
        return;
      }
      await kv.set(["a"], 2);
      const list = () => collect(tx.list({ prefix: [] }));
      for (const call of [list, () => tx.get(["c"]), () => tx.set(["b"], 1)]) {
        codes.push((await rejection(call())).code);
      }
      await kv.delete(["a"]);
    });
    expect(codes).toEqual(Array.from({ length: 3 }, () => "KW_TRANSACTION_CONFLICT"));
    expect(attempts).toBe(2);
    expect((await kv.get(["b"])).value).toBe("second");
  });

  it("that do not fit together are made again, also where nothing is written", async () => {
    await kv.set(["a"], 1);
    await kv.set(["b"], 1);
    let attempts = 0;
    const sum = await runTransaction(plainKv, async (tx) => {
      attempts++;
      const a = await tx.get<number>(["a"]);
      if (attempts === 1) await kv.atomic().set(["a"], 2).set(["b"], 0).commit();
      const b = await tx.get<number>(["b"]);
      return a.value! + b.value!;
    });
    expect([sum, attempts]).toEqual([2, 2]);
  });

  it("notice an entry that is gone when a range is listed later", async () => {
    await kv.set(["a", 1], 1);
    let attempts = 0;
    const seen = await runTransaction(plainKv, async (tx) => {
      attempts++;
      const { value } = await tx.get(["a", 1]);
      if (attempts === 1) await kv.delete(["a", 1]);
      return [value, (await collect(tx.list({ prefix: ["a"] }))).length];
    });
    expect([seen, attempts]).toEqual([[null, 0], 2]);
  });

  it("of more keys than one check holds are verified in parts, the absent ones first", async () => {
    for (let n = 0; n < 30; n++) await kv.set(["n", n], n);
    const small = denoKv(kv);
    let attempts = 0;
    const read = (change: () => Promise<unknown>) =>
      runTransaction(small, async (tx) => {
        attempts++;
        const absent = await tx.get(["absent"]);
        const entries = await collect(tx.list({ prefix: ["n"] }));
        if (attempts === 1) await change();
        return [absent.value, ...entries.map((entry) => entry.value)];
      });
    expect((await read(async () => undefined)).length).toBe(31);
    expect(attempts).toBe(1);
    for (const changed of [["n", 0], ["n", 29], ["absent"]]) {
      attempts = 0;
      await read(() => kv.set(changed, "new"));
      expect(attempts).toBe(2);
    }
  });

  it("of more absent keys than are read at once are verified by a commit without writes", async () => {
    const limited = await openDenoMode();
    const plainLimited = withoutViews(limited);
    try {
      const wanted: KvKey[] = Array.from({ length: 25 }, (_, n) => ["absent", n]);
      let attempts = 0;
      const read = (change?: KvKey) =>
        runTransaction(plainLimited, async (tx) => {
          attempts++;
          const entries = await tx.getMany<unknown[]>(wanted);
          if (attempts === 1 && change !== undefined) await limited.set(change, "new");
          return entries.filter(({ value }) => value !== null).map(({ key }) => key);
        });
      expect(await read()).toEqual([]);
      expect(attempts).toBe(1);
      for (const changed of [wanted[0]!, wanted[24]!]) {
        attempts = 0;
        expect(await read(changed)).toEqual([changed]);
        expect(attempts).toBe(2);
        await limited.delete(changed);
      }
    } finally {
      await limited.close();
    }
  });

  it("of keys that were set or deleted before do not reach the database", async () => {
    const reads: KvKey[] = [];
    const counting = kvWith(kv, {
      get: (key: KvKey) => {
        reads.push(key);
        return kv.get(key);
      },
    });
    await runTransaction(counting, async (tx) => {
      await tx.set(["a"], 1);
      await tx.delete(["b"]);
      expect((await tx.get(["a"])).value).toBe(1);
      expect((await tx.get(["b"])).value).toBe(null);
      // Somebody else may change them: they are written whatever they were.
      await kv.atomic().set(["a"], 2).set(["b"], 2).commit();
    });
    expect(reads).toEqual([]);
    expect((await kv.get(["a"])).value).toBe(1);
    expect((await kv.get(["b"])).value).toBe(null);
  });

  it("give a copy each, and writes take one", async () => {
    await runTransaction(kv, async (tx) => {
      const own = { list: [1] };
      const bytes = Uint8Array.of(1);
      const operation = tx.atomic().set(["a", bytes], own);
      own.list.push(2);
      bytes[0] = 9;
      await operation.commit();
      const first = await tx.get<typeof own>(["a", Uint8Array.of(1)]);
      first.value!.list.push(3);
      (first.key[1] as Uint8Array)[0] = 8;
      expect((await tx.get(["a", Uint8Array.of(1)])).value).toEqual({ list: [1] });
      const [listed] = await collect(tx.list({ prefix: ["a"] }));
      expect(listed).toMatchObject({ key: ["a", Uint8Array.of(1)], value: { list: [1] } });
    });
    expect((await kv.get(["a", Uint8Array.of(1)])).value).toEqual({ list: [1] });
  });
});

describe("writes", () => {
  it("come in one commit, whose versionstamp those who wait for it are told", async () => {
    const told: unknown[] = [];
    await runTransaction(kv, async (tx) => {
      tx.afterCommit((versionstamp) => void told.push(["first", versionstamp]));
      await tx.set(["a"], 1);
      tx.afterCommit(async (versionstamp) => void told.push(["second", versionstamp]));
      await tx.set(["b"], 1);
      expect((await kv.get(["a"])).value).toBe(null);
      expect(told).toEqual([]);
    });
    const { versionstamp } = await kv.get(["a"]);
    expect((await kv.get(["b"])).versionstamp).toBe(versionstamp);
    expect(told).toEqual([
      ["first", versionstamp],
      ["second", versionstamp],
    ]);
  });

  it("are not made where the function throws, and nobody is told", async () => {
    const error = new Error("mine");
    let told = 0;
    const run = runTransaction(kv, async (tx) => {
      await tx.get(["a"]);
      await tx.get(["b"]);
      tx.afterCommit(() => void told++);
      await tx.set(["a"], 1);
      await tx.enqueue("message");
      throw error;
    });
    expect(await rejection(run)).toBe(error);
    expect(await collect(kv.list({ prefix: [] }))).toEqual([]);
    expect(told).toBe(0);
  });

  it("are tried again where the function throws because of what never was", async () => {
    await kv.atomic().set(["a"], 1).set(["b"], 1).commit();
    let attempts = 0;
    const run = runTransaction(plainKv, async (tx) => {
      attempts++;
      const a = await tx.get(["a"]);
      if (attempts === 1) await kv.atomic().set(["a"], 2).set(["b"], 2).commit();
      const b = await tx.get(["b"]);
      if (a.value !== b.value) throw new Error("they always are the same");
      return a.value;
    });
    expect(await run).toBe(2);
    expect(attempts).toBe(2);
  });

  it("tell those who wait once, also where they are tried again", async () => {
    await kv.set(["a"], 0);
    let attempts = 0;
    const told: number[] = [];
    await runTransaction(kv, async (tx) => {
      const attempt = ++attempts;
      const { value } = await tx.get<number>(["a"]);
      if (attempt === 1) await kv.set(["a"], 5);
      await tx.set(["a"], value! + 1);
      tx.afterCommit(() => void told.push(attempt));
    });
    expect((await kv.get(["a"])).value).toBe(6);
    expect(told).toEqual([2]);
  });

  it("stay where one who waits throws, and the others are told still", async () => {
    const error = new Error("mine");
    const told: string[] = [];
    const run = runTransaction(kv, async (tx) => {
      await tx.set(["a"], 1);
      tx.afterCommit(() => {
        throw error;
      });
      tx.afterCommit(() => void told.push("second"));
    });
    expect(await rejection(run)).toBe(error);
    expect((await kv.get(["a"])).value).toBe(1);
    expect(told).toEqual(["second"]);
  });

  it("that depend on each other's reads do not both happen (no write skew)", async () => {
    await kv.atomic().set(["on call", "ada"], true).set(["on call", "bob"], true).commit();
    const leave = (name: string) =>
      runTransaction(kv, async (tx) => {
        const entries = await collect(tx.list({ prefix: ["on call"] }));
        if (entries.filter((entry) => entry.value).length > 1)
          await tx.set(["on call", name], false);
      });
    await Promise.all([leave("ada"), leave("bob")]);
    const entries = await collect(kv.list({ prefix: ["on call"] }));
    expect(entries.filter((entry) => entry.value)).toHaveLength(1);
  });

  it("to a range whose guard is checked make who has read it try again (no phantoms)", async () => {
    await kv.set(["guard"], 0);
    let attempts = 0;
    await runTransaction(kv, async (tx) => {
      attempts++;
      const { versionstamp } = await kv.get(["guard"]);
      tx.addCheck({ key: ["guard"], versionstamp });
      const entries = await collect(tx.list({ prefix: ["a"] }));
      if (attempts === 1) await kv.atomic().set(["guard"], 1).set(["a", 1], 1).commit();
      await tx.set(["count"], entries.length);
    });
    expect((await kv.get(["count"])).value).toBe(1);
    expect(attempts).toBe(2);
  });

  it("of sums, minima and maxima of unread keys are in nobody's way", async () => {
    await kv.set(["sum"], new KvU64(10n));
    let attempts = 0;
    const runs = Array.from({ length: 20 }, (_, n) =>
      runTransaction(kv, async (tx) => {
        attempts++;
        await tx.atomic().sum(["sum"], 1n).max(["max"], BigInt(n)).commit();
        await tx.atomic().sum(["sum"], 2n).min(["min"], BigInt(n)).commit();
        await tx.set(["n", n], n);
      }),
    );
    await Promise.all(runs);
    expect(attempts).toBe(20);
    const numbers = await kv.getMany<KvU64[]>([["sum"], ["min"], ["max"]]);
    expect(numbers.map((entry) => entry.value?.value)).toEqual([70n, 0n, 19n]);
  });

  it("of a sum that was read are checked", async () => {
    await kv.set(["sum"], new KvU64(10n));
    let attempts = 0;
    await runTransaction(kv, async (tx) => {
      attempts++;
      await tx.atomic().sum(["sum"], 1n).commit();
      const { value } = await tx.get<KvU64>(["sum"]);
      if (attempts === 1) await kv.atomic().sum(["sum"], 100n).commit();
      await tx.set(["copy"], value!.value);
    });
    expect(attempts).toBe(2);
    expect((await kv.get(["copy"])).value).toBe(111n);
    expect((await kv.get<KvU64>(["sum"])).value?.value).toBe(111n);
  });

  it("of a sum whose key was absent in a list are checked", async () => {
    let attempts = 0;
    await runTransaction(kv, async (tx) => {
      attempts++;
      await tx.atomic().sum(["n", 1], 1n).commit();
      const [entry] = await collect(tx.list<KvU64>({ prefix: ["n"] }));
      if (attempts === 1) await kv.atomic().sum(["n", 1], 100n).commit();
      await tx.set(["copy"], plain(entry?.value));
    });
    expect(attempts).toBe(2);
    expect((await kv.get(["copy"])).value).toBe(101n);
  });

  it("of mutate() are those of the methods with the names of their types", async () => {
    const before = kv.atomic().set(["set"], "old").set(["delete"], "old");
    for (const type of ["sum", "min", "max"]) before.set([type], new KvU64(5n));
    await before.commit();
    await runTransaction(kv, async (tx) => {
      const value = new KvU64(7n);
      const operation = tx
        .atomic()
        .mutate(
          { type: "set", key: ["set"], value: "new" },
          { type: "delete", key: ["delete"] },
          { type: "sum", key: ["sum"], value },
          { type: "min", key: ["min"], value },
          { type: "max", key: ["max"], value },
        );
      expect(await operation.commit()).toMatchObject({ ok: true });
    });
    const entries = await collect(kv.list({ prefix: [] }));
    expect(entries.map(({ key: [type], value }) => [type, plain(value)])).toEqual([
      ["max", 7n],
      ["min", 5n],
      ["set", "new"],
      ["sum", 12n],
    ]);
  });

  it("of a sum to what is no number are refused, whoever set it, and nothing is written", async () => {
    await kv.set(["text"], "text");
    const ofOwn = runTransaction(kv, async (tx) => {
      await tx.set(["own"], "text");
      await tx.atomic().set(["b"], 1).sum(["own"], 1n).commit();
    });
    expect((await rejection(ofOwn)).code).toBe("KW_VALUE_NOT_U64");
    const ofRead = runTransaction(kv, async (tx) => {
      await tx.atomic().set(["b"], 1).sum(["text"], 1n).commit();
      await tx.get(["text"]);
    });
    expect((await rejection(ofRead)).code).toBe("KW_VALUE_NOT_U64");
    const ofUnread = runTransaction(kv, async (tx) => {
      await tx.atomic().set(["b"], 1).sum(["text"], 1n).commit();
    });
    expect((await rejection(ofUnread)).code).toBe("KW_VALUE_NOT_U64");
    expect(await collect(kv.list({ prefix: [] }))).toHaveLength(1);
  });

  it("that expire say so before the commit, and do after it", async () => {
    const from = Date.now();
    const seen = await runTransaction(kv, async (tx) => {
      await tx.set(["a"], 1, { expireIn: 60_000 });
      await expect(tx.set(["b"], 1, { expireIn: -1 })).rejects.toThrow(TypeError);
      return await tx.get(["a"]);
    });
    expect((seen as KvEntry<number>).expireAt).toBeGreaterThanOrEqual(from + 60_000);
    const stored = (await kv.get(["a"])) as KvEntry<number>;
    expect(stored.expireAt).toBeGreaterThanOrEqual((seen as KvEntry<number>).expireAt!);
  });

  it("to the queue are delivered after the commit", async () => {
    const message = new Promise((resolve) => {
      void kv.listenQueue(resolve);
    });
    await runTransaction(kv, async (tx) => {
      await tx.atomic().enqueue({ n: 1 }).set(["a"], 1).commit();
    });
    expect(await message).toEqual({ n: 1 });
  });
});

describe("atomic operations", () => {
  it("know versionstamps of the transaction's own writes, and no others of theirs", async () => {
    await runTransaction(kv, async (tx) => {
      const { versionstamp } = await tx.set(["a"], 1);
      expect(versionstamp).toMatch(/^[0-9a-f]{20}$/);
      expect(versionstamp > (await kv.set(["other"], 1)).versionstamp).toBe(true);
      const check = { key: ["a"], versionstamp };
      expect((await tx.get(["a"])).versionstamp).toBe(versionstamp);
      expect((await tx.atomic().check(check).set(["a"], 2).commit()).ok).toBe(true);
      expect((await tx.atomic().check(check).set(["a"], 3).commit()).ok).toBe(false);
      expect(
        (
          await tx
            .atomic()
            .check({ key: ["a"], versionstamp: null })
            .commit()
        ).ok,
      ).toBe(false);
      await tx.delete(["a"]);
      expect(
        (
          await tx
            .atomic()
            .check({ key: ["a"], versionstamp: null })
            .commit()
        ).ok,
      ).toBe(true);
    });
  });

  it("that run at the same time within one transaction do not both take a key", async () => {
    for (const assumes of ["all", "versions", "nothing"] as const) {
      await kv.delete(["a"]);
      const tx = new TransactionKv(kv, { assumes });
      const check = { key: ["a"], versionstamp: null };
      const take = (n: number) => tx.atomic().check(check).set(["a"], n).commit();
      const results = await Promise.all([take(1), take(2), take(3)]);
      const taken = [1, 2, 3].filter((_, i) => results[i]!.ok);
      expect(taken).toHaveLength(1);
      expect((await tx.get(["a"])).value).toBe(taken[0]);
    }
  });

  it("assume that a key is absent without a read only if the caller allows it", async () => {
    await kv.set(["a"], "taken");
    const outcomesOf = async (options?: { readonly optimistic: boolean }) => {
      const outcomes: boolean[] = [];
      const create = async (tx: TransactionKv) => {
        const check = { key: ["a"], versionstamp: null };
        outcomes.push((await tx.atomic().check(check).set(["a"], "mine").commit()).ok);
      };
      await runTransaction(kv, create, options);
      return outcomes;
    };
    expect(await outcomesOf({ optimistic: true })).toEqual([true, false]);
    expect(await outcomesOf()).toEqual([false]);
    expect((await kv.get(["a"])).value).toBe("taken");
  });

  it("end the attempt where the transaction is behind the times, and not who checks", async () => {
    await kv.set(["a"], 1);
    let attempts = 0;
    const ok = await runTransaction(kv, async (tx) => {
      attempts++;
      await tx.get(["a"]);
      if (attempts === 1) await kv.set(["a"], 2);
      const check = await kv.get(["a"]);
      return (await tx.atomic().check(check).set(["b"], 1).commit()).ok;
    });
    expect([ok, attempts]).toEqual([true, 2]);
  });

  it("make their changes one after another", async () => {
    await runTransaction(kv, async (tx) => {
      const operation = tx.atomic().sum(["a"], 1n).set(["a"], new KvU64(5n)).sum(["a"], 1n);
      await operation.max(["a"], 20n).min(["a"], 9n).delete(["b"]).sum(["b"], 3n).commit();
      const seen = await tx.getMany([["a"], ["b"]]);
      expect(seen.map((entry) => plain(entry.value))).toEqual([9n, 3n]);
    });
    const stored = await kv.getMany([["a"], ["b"]]);
    expect(stored.map((entry) => plain(entry.value))).toEqual([9n, 3n]);
  });

  it("that refuse one of their changes make none", async () => {
    await runTransaction(kv, async (tx) => {
      expect(() => tx.atomic().set(["a"], () => 1)).toThrow(TypeError);
      expect(() => tx.atomic().sum(["a"], -1n)).toThrow(RangeError);
      expect(() => tx.atomic().set([], 1)).toThrow(TypeError);
      expect(() => tx.atomic().check({ key: ["a"], versionstamp: "1" })).toThrow(TypeError);
      const awaited = Promise.resolve().then(() => tx.atomic().set(["a"], 1) as unknown);
      await expect(awaited).rejects.toThrow(TypeError);
      expect((await tx.get(["a"])).value).toBe(null);
    });
  });
});

describe("a transaction", () => {
  it("gives up after as many attempts as it may have", async () => {
    let attempts = 0;
    const run = (maxAttempts: number) => {
      attempts = 0;
      return runTransaction(
        kv,
        async (tx) => {
          attempts++;
          const { value } = await tx.get<number>(["a"]);
          await kv.set(["a"], (value ?? 0) + 1);
          await tx.set(["b"], 1);
        },
        { maxAttempts },
      );
    };
    for (const maxAttempts of [1, 3]) {
      const error = await rejection(run(maxAttempts));
      expect(error).toMatchObject({
        code: "KW_TRANSACTION_CONFLICT",
        attempts: maxAttempts,
        retryable: true,
      });
      expect(attempts).toBe(maxAttempts);
    }
    expect((await kv.get(["b"])).value).toBe(null);
    await expect(run(0)).rejects.toMatchObject({
      code: "KW_ARGUMENT_INVALID",
      argument: "maxAttempts",
      message: "transaction: maxAttempts is not valid: it must be a positive integer",
    });
  });

  it("names what its function threw last where it gives up", async () => {
    const error = new Error("mine");
    const run = runTransaction(
      plainKv,
      async (tx) => {
        await tx.get(["a"]);
        await kv.set(["a"], 1);
        await tx.get(["b"]);
        throw error;
      },
      { maxAttempts: 2 },
    );
    expect(await rejection(run)).toMatchObject({ code: "KW_TRANSACTION_CONFLICT", cause: error });
  });

  it("that is aborted writes nothing, and throws the reason", async () => {
    const reason = new Error("enough");
    const stop = new AbortController();
    const run = runTransaction(
      kv,
      async (tx) => {
        await tx.set(["a"], 1);
        stop.abort(reason);
      },
      { signal: stop.signal },
    );
    expect(await rejection(run)).toBe(reason);
    expect((await kv.get(["a"])).value).toBe(null);
  });

  it("refuses calls after its end, and calls that end later write nothing", async () => {
    const { opened, open } = gate();
    const slow = kvWith(plainKv, {
      get: async (key: KvKey) => {
        await opened;
        return await kv.get(key);
      },
      getMany: async (all: KvKey[]) => {
        await opened;
        return await kv.getMany(all);
      },
    });
    let late: Promise<unknown>[] = [];
    let kept: TransactionKv | undefined;
    let iterator: AsyncIterator<unknown> | undefined;
    await runTransaction(slow, async (tx) => {
      kept = tx;
      iterator = tx.list({ prefix: [] });
      await tx.set(["a"], 1);
      const check = { key: ["b"], versionstamp: null };
      late = [tx.get(["b"]), tx.atomic().check(check).set(["b"], 1).commit()].map(rejection);
    });
    open();
    const tx = kept!;
    const refused = [
      ...late,
      ...[tx.get(["a"]), tx.getMany([["a"]]), tx.set(["c"], 1), tx.delete(["a"])].map(rejection),
      rejection(iterator!.next()),
      rejection(tx.commit()),
    ];
    for (const error of await Promise.all(refused)) {
      expect(error).toMatchObject({ code: "KW_TRANSACTION_ENDED" });
    }
    for (const call of [
      () => tx.list({ prefix: [] }),
      () => tx.atomic(),
      () => tx.afterCommit(() => undefined),
      () => tx.addCheck({ key: ["a"], versionstamp: null }),
    ])
      expect(call).toThrow(expect.objectContaining({ code: "KW_TRANSACTION_ENDED" }));
    expect((await collect(kv.list({ prefix: [] }))).map((entry) => entry.key)).toEqual([["a"]]);
  });

  it("of more than the database takes at once is refused before anything is written", async () => {
    const limited = kvWith(kv, { limits: { checks: 3, mutations: 3, keys: 2 } });
    const run = (reads: number, writes: number) =>
      runTransaction(limited, async (tx) => {
        await tx.getMany(Array.from({ length: reads }, (_, n) => ["n", n]));
        for (let n = 0; n < writes; n++) await tx.set(["n", n], n);
      });
    expect(await rejection(run(4, 1))).toMatchObject({ limit: "checks", max: 3, actual: 4 });
    expect(await rejection(run(1, 4))).toMatchObject({ limit: "mutations", max: 3, actual: 4 });
    expect(await collect(kv.list({ prefix: [] }))).toEqual([]);
    await run(3, 3);
    expect(await collect(kv.list({ prefix: [] }))).toHaveLength(3);
    // One that states no limits has Deno KV's.
    const eleven = runTransaction(denoKv(kv), async (tx) => {
      for (let n = 0; n < 11; n++) await tx.get(["m", n]);
      await tx.set(["m"], 1);
    });
    expect(await rejection(eleven)).toMatchObject({ limit: "checks", max: 10, actual: 11 });
  });

  it("has no cursor before its first entry, and then that of the last one, as the database has", async () => {
    await kv.atomic().set(["a"], 1).set(["b"], 2).commit();
    await runTransaction(kv, async (tx) => {
      const [own, other] = [tx.list({ prefix: [] }), kv.list({ prefix: [] })];
      expect(own.cursor).toBe("");
      for (let n = 0; n < 2; n++) {
        await own.next();
        await other.next();
        expect(own.cursor).toBe(other.cursor);
      }
    });
  });

  it("may leave iterators unfinished, or ask them for several entries at once", async () => {
    for (let n = 0; n < 6; n++) await kv.set(["n", n], n);
    await runTransaction(kv, async (tx) => {
      await tx.set(["n", 1.5], 1.5);
      for await (const entry of tx.list<number>({ prefix: ["n"] }, { batchSize: 2 })) {
        if (entry.value === 1.5) break;
      }
      const iterator = tx.list<number>({ prefix: ["n"] }, { batchSize: 2 });
      const results = await Promise.all([iterator.next(), iterator.next(), iterator.next()]);
      expect(results.map((result) => result.value?.value)).toEqual([0, 1, 1.5]);
      // What is written in front of it comes, what is written behind it does not.
      await tx.set(["n", 0.5], 0.5);
      await tx.set(["n", 4.5], 4.5);
      await tx.delete(["n", 3]);
      expect((await iterator.next()).value?.value).toBe(2);
      expect((await iterator.return?.())?.done).toBe(true);
      expect((await iterator.next()).done).toBe(true);
      const rest = await collect(tx.list({ prefix: ["n"] }, { cursor: iterator.cursor }));
      expect(rest.map((entry) => entry.value)).toEqual([4, 4.5, 5]);
      tx.list({ prefix: ["n"] });
    });
  });

  it("gives each call of next that overlaps others an entry of its own", async () => {
    for (let n = 0; n < 6; n++) await kv.set(["n", n], n);
    const tx = new TransactionKv(kv);
    await tx.set(["n", 0.5], 0.5);
    const iterator = tx.list<number>({ prefix: ["n"] }, { batchSize: 2 });
    const results = await Promise.all(Array.from({ length: 8 }, () => iterator.next()));
    const expected = [0, 0.5, 1, 2, 3, 4, 5, undefined];
    expect(results.map((result) => result.value?.value)).toEqual(expected);
  });

  it("reads no more of a range than is asked for, and is only bound by what was returned", async () => {
    for (let n = 0; n < 50; n++) await kv.set(["n", n], n);
    let attempts = 0;
    await runTransaction(kv, async (tx) => {
      attempts++;
      const entries = await collect(tx.list({ prefix: ["n"] }, { limit: 5 }));
      if (attempts === 1) await kv.set(["n", 5], "changed");
      await tx.set(["count"], entries.length);
    });
    expect(attempts).toBe(1);
    expect(() => new TransactionKv(kv).list({ prefix: ["n"] }, { limit: 0 })).toThrow(TypeError);
    expect(() => new TransactionKv(kv).list({} as KvListSelector)).toThrow(TypeError);
    const foreign = { cursor: Buffer.from("x").toString("base64url") };
    expect(() => new TransactionKv(kv).list({ prefix: ["n"] }, foreign)).toThrow(TypeError);
  });

  it("can be within another", async () => {
    await kv.set(["a"], 1);
    await runTransaction(kv, async (outer) => {
      await outer.set(["b"], 1);
      await runTransaction(outer, async (inner) => {
        expect((await collect(inner.list({ prefix: [] }))).map((entry) => entry.value)).toEqual([
          1, 1,
        ]);
        await inner.set(["b"], 2);
        await inner.delete(["a"]);
      });
      const failed = runTransaction(outer, async (inner) => {
        await inner.set(["b"], 3);
        throw new Error("mine");
      });
      await rejection(failed);
      expect((await outer.get(["b"])).value).toBe(2);
    });
    expect((await collect(kv.list({ prefix: [] }))).map((entry) => entry.value)).toEqual([2]);
  });

  it("says what it does not have", async () => {
    const tx = new TransactionKv(kv);
    expect(() => tx.watch()).toThrow(TypeError);
    expect(() => tx.close()).toThrow(TypeError);
    await expect(tx.listenQueue()).rejects.toThrow(TypeError);
  });
});
