import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type Kv, type KvKey, type KvListedEntry, openKv } from "@keywright/core";
import fc from "fast-check";
import { afterEach, beforeEach, expect, it } from "vitest";
import { listAsPage } from "../src/state/transaction/reads/list-as-page.js";
import { TransactionKv } from "../src/state/transaction/transaction-kv.js";

const names = ["a", "b", "c", "d"];
const rowKey = (name: string): KvKey => ["rows", name];
const indexKey = (name: string): KvKey => ["index", "x", name];
const expireIn = 3_600_000;
const whole = { limit: 500, reverse: false, withValues: true };

let paged: Kv;
let listed: Kv;

beforeEach(async () => {
  [paged, listed] = [await openKv(), await openKv()];
});

afterEach(async () => {
  await paged.close();
  await listed.close();
});

const name = fc.constantFrom(...names);
const stored = fc.subarray(names);
const write = fc.record({ type: fc.constantFrom("set", "expire", "delete"), name });
const action = fc.oneof(
  fc.record({
    type: fc.constant("list" as const),
    of: fc.constantFrom("index", "rows"),
    limit: fc.integer({ min: 1, max: 5 }),
    reverse: fc.boolean(),
  }),
  fc.record({ type: fc.constant("linked" as const), names: fc.subarray(names, { minLength: 1 }) }),
  fc.record({ type: fc.constant("get" as const), name }),
  fc.record({ type: fc.constant("own" as const), write }),
  fc.record({ type: fc.constant("other" as const), write }),
  fc.record({ type: fc.constant("believe" as const), name }),
);
type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;

it("a transaction that reads pages sees and commits what one does that reads entry by entry", async () => {
  const run = async (rows: string[], entries: string[], actions: readonly Action[]) => {
    const outcomes = await Promise.all([
      outcomeOf(paged, rows, entries, actions, true),
      outcomeOf(listed, rows, entries, actions, false),
    ]);
    expect(outcomes[0]).toEqual(outcomes[1]);
  };
  const actions = fc.array(action, { maxLength: 8 });
  const rowBelievedBeforeItsPage: Action[] = [
    { type: "other", write: { type: "set", name: "c" } },
    { type: "believe", name: "c" },
    { type: "linked", names: ["c"] },
  ];
  await fc.assert(fc.asyncProperty(stored, stored, actions, run), {
    numRuns: 2000,
    examples: [[["c"], [], rowBelievedBeforeItsPage]],
  });
});

it("rows of a range that was listed need no checks, whether they are linked before or after it", async () => {
  const few = await openKv(":memory:", { limits: { checks: 1 } });
  const operation = few.atomic();
  for (const each of names) operation.set(rowKey(each), each).set(indexKey(each), null);
  await operation.commit();
  for (const order of ["before", "after", "after a read"]) {
    const tx = new TransactionKv(few);
    const listRows = () => tx.pages!.list({ prefix: ["rows"] }, whole);
    if (order !== "before") await listRows();
    if (order === "after a read") await tx.get(["rows", "absent"]);
    await tx.pages!.getLinked(names.map(indexKey).map(entryAt), ["rows"], 2);
    if (order === "before") await listRows();
    await tx.set(["written"], order);
    expect(await tx.commit()).toMatchObject({ ok: true });
    tx.release();
  }
  await few.close();
});

it("a transaction that reads many pages holds the values of a limited number of entries", async () => {
  setFlagsFromString("--expose-gc");
  const collectGarbage = runInNewContext("gc") as () => void;
  const count = 12_000;
  const operation = paged.atomic();
  for (let i = 0; i < count; i++) operation.set(["rows", i], { i });
  await operation.commit();
  const tx = new TransactionKv(paged);
  const values: WeakRef<object>[] = [];
  for (let i = 0; i < count; i += whole.limit) {
    const page = await tx.pages!.list({ prefix: ["rows"], start: ["rows", i] }, whole);
    for (const { value } of page) values.push(new WeakRef(value as object));
  }
  // Objects that a task has used stay in memory until its end.
  await new Promise(setImmediate);
  collectGarbage();
  expect(values).toHaveLength(count);
  expect(values.filter((value) => value.deref() !== undefined).length).toBeLessThan(6000);
  await paged.set(["rows", 3], null);
  await tx.set(["written"], 1);
  expect(await tx.commit()).toEqual({ ok: false });
  tx.release();
});

/** Returns what a transaction reads, and whether it can be committed. */
async function outcomeOf(
  kv: Kv,
  rows: readonly string[],
  entries: readonly string[],
  actions: readonly Action[],
  byPages: boolean,
): Promise<unknown[]> {
  for (const each of names) {
    await apply(kv, { type: rows.includes(each) ? "set" : "delete", name: each });
    await kv.delete(indexKey(each));
    if (entries.includes(each)) await kv.set(indexKey(each), null);
  }
  const tx = new TransactionKv(kv);
  const seen: unknown[] = [];
  try {
    // Both read the state of this moment.
    await tx.get(["absent"]);
    for (const each of actions) seen.push(await resultOf(tx, kv, each, byPages));
    await tx.set(["written"], seen.length);
    seen.push([...tx.footprint.reads].sort(), (await tx.commit()).ok);
  } catch (error) {
    tx.end();
    // A conflict is found by the next read or by the commit.
    return [(error as { code?: string }).code === "KW_TRANSACTION_CONFLICT" ? false : error];
  } finally {
    tx.release();
  }
  return seen.at(-1) === false ? [false] : seen;
}

async function resultOf(tx: TransactionKv, kv: Kv, each: Action, byPages: boolean) {
  switch (each.type) {
    case "list": {
      const selector = { prefix: [each.of] };
      const options = { limit: each.limit, reverse: each.reverse, withValues: true };
      const page = byPages
        ? await tx.pages!.list(selector, options)
        : await listAsPage(tx, selector, options);
      return page.map(shown);
    }
    case "linked": {
      if (!byPages) {
        const found = await tx.getMany<unknown[]>(each.names.map(rowKey));
        return found.map(({ value }) => value);
      }
      const entries = each.names.map(indexKey).map(entryAt);
      const found = await tx.pages!.getLinked(entries, ["rows"], 2);
      return found.map((entry) => entry?.value ?? null);
    }
    case "get":
      return (await tx.get(rowKey(each.name))).value;
    case "own":
      await apply(tx, each.write);
      return;
    case "other":
      await apply(kv, each.write);
      return;
    case "believe":
      tx.addCheck({
        key: rowKey(each.name),
        versionstamp: (await kv.get(rowKey(each.name))).versionstamp,
      });
  }
}

async function apply(kv: Kv, { type, name: of }: { type: string; name: string }): Promise<void> {
  if (type === "delete") await kv.delete(rowKey(of));
  else await kv.set(rowKey(of), of, type === "expire" ? { expireIn } : {});
}

/** The entry of a page of which only the key is used. */
function entryAt(key: KvKey): KvListedEntry {
  return { key } as KvListedEntry;
}

function shown({ key, value, expireAt }: KvListedEntry): unknown {
  return [key, value, expireAt !== undefined];
}
