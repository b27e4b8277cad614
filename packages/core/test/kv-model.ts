import assert from "node:assert/strict";
import fc from "fast-check";
import type { KvKey, KvKeyPart } from "../src/keys/key.js";
import type { KvListSelector } from "../src/keys/key-range.js";
import type { AtomicCheck, KvSetOptions } from "../src/kv/atomic-operation.js";
import type { Kv, KvEntry, KvEntryMaybe, KvListOptions } from "../src/kv/kv.js";
import { KvU64 } from "../src/values/kv-u64.js";
import { compareParts, hasPartPrefix } from "./key-order.js";

/** What a database holds, as a plain sorted list. */
interface Model {
  entries: readonly KvEntry<unknown>[];
  lastVersionstamp: string;
  /** The versionstamps of the watched keys, as they were reported last. */
  reported: (string | null)[] | undefined;
}

/** A database, and a watch of some of its keys. */
interface Watched {
  readonly kv: Kv;
  readonly reports: ReadableStreamDefaultReader<KvEntryMaybe<unknown>[]>;
}

type Mutation = { readonly key: KvKey } & (
  | { readonly type: "set"; readonly value: unknown; readonly expireIn: number | undefined }
  | { readonly type: "delete" }
  | { readonly type: "sum" | "min" | "max"; readonly operand: bigint }
);
const hour = 3_600_000;
const largest = (1n << 64n) - 1n;

type ModelCommand = fc.AsyncCommand<Model, Watched>;

/** How a check is made to hold or to fail. */
type CheckKind = "current" | "absent" | "stale";

/**
 * Applies random operations to a database and to a sorted list, and compares the results.
 */
export async function compareWithModel(create: () => Promise<Kv>, numRuns: number): Promise<void> {
  const property = fc.asyncProperty(fc.commands(commands, { maxCommands: 40 }), async (run) => {
    const kv = await create();
    try {
      const model: Model = { entries: [], lastVersionstamp: "", reported: undefined };
      const reports = kv.watch<unknown[]>(watchedKeys).getReader();
      await fc.asyncModelRun(() => ({ model, real: { kv, reports } }), run);
      await assertList(model, kv, { prefix: [] }, {});
    } finally {
      await kv.close();
    }
  });
  await fc.assert(property, { numRuns });
}

const part: fc.Arbitrary<KvKeyPart> = fc.constantFrom(
  "a",
  "a\0",
  "b",
  0,
  -0,
  1,
  1n,
  -1n,
  true,
  Uint8Array.of(0),
  Uint8Array.of(0, 255),
);
const watchedKeys: KvKey[] = [["a"], ["b"], [1]];
const key = fc.oneof(
  fc.array(part, { minLength: 1, maxLength: 3 }),
  // So that they are met more than once.
  fc.constantFrom(...watchedKeys),
);
const value = fc.oneof(
  fc.integer(),
  fc.constant(-0),
  fc.constant(undefined),
  fc.array(fc.string()),
);
const number = fc.bigInt({ min: 0n, max: largest });
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({
    type: fc.constant("set" as const),
    key,
    value: fc.oneof(
      value,
      number.map((n) => new KvU64(n)),
    ),
    // None of them comes to its end in a test.
    expireIn: fc.constantFrom(undefined, undefined, hour, 2 * hour),
  }),
  fc.record({ type: fc.constant("delete" as const), key }),
  fc.record({
    type: fc.constantFrom("sum" as const, "min" as const, "max" as const),
    key,
    operand: number,
  }),
);
const selector: fc.Arbitrary<KvListSelector> = fc
  .tuple(fc.array(part, { maxLength: 2 }), key, key, fc.nat(3))
  .map(([prefix, a, b, shape]) => {
    if (shape === 0) return { prefix };
    if (shape === 1) return { prefix, start: [...prefix, ...a] };
    if (shape === 2) return { prefix, end: [...prefix, ...a] };
    return compareParts(a, b) <= 0 ? { start: a, end: b } : { start: b, end: a };
  });
const listOptions: fc.Arbitrary<KvListOptions> = fc.record(
  {
    limit: fc.integer({ min: 1, max: 8 }),
    batchSize: fc.integer({ min: 1, max: 4 }),
    reverse: fc.boolean(),
  },
  { requiredKeys: [] },
);

const commands: fc.Arbitrary<ModelCommand>[] = [
  mutation.map((each) => commitCommand([], [each])),
  fc
    .record({
      checks: fc.array(fc.tuple(key, fc.constantFrom<CheckKind>("current", "absent", "stale")), {
        maxLength: 2,
      }),
      mutations: fc.array(mutation, { maxLength: 4 }),
    })
    .map(({ checks, mutations }) => commitCommand(checks, mutations)),
  fc.array(key, { maxLength: 4 }).map((keys) =>
    command(`getMany(${fc.stringify(keys)})`, async (model, { kv }) => {
      assertEntries(
        await kv.getMany<unknown[]>(keys),
        keys.map((each) => find(model.entries, each)),
      );
    }),
  ),
  fc.constant(command("read the watch", readWatch)),
  fc
    .tuple(selector, listOptions)
    .map(([chosen, options]) =>
      command(`list(${fc.stringify(chosen)}, ${fc.stringify(options)})`, (model, { kv }) =>
        assertList(model, kv, chosen, options),
      ),
    ),
];

function command(name: string, run: (model: Model, real: Watched) => Promise<void>): ModelCommand {
  return { check: () => true, run, toString: () => name };
}

function commitCommand(
  checks: readonly (readonly [KvKey, CheckKind])[],
  mutations: readonly Mutation[],
): ModelCommand {
  return command(
    `commit(${fc.stringify(checks)}, ${fc.stringify(mutations)})`,
    async (model, { kv }) => {
      const made = checks.map(([checked, kind]) => makeCheck(model, checked, kind));
      const atomic = kv.atomic().check(...made);
      for (const each of mutations) {
        if (each.type === "set") atomic.set(each.key, each.value, optionsOf(each));
        else if (each.type === "delete") atomic.delete(each.key);
        else atomic[each.type](each.key, each.operand);
      }
      const holds = made.every(
        (check) => find(model.entries, check.key).versionstamp === check.versionstamp,
      );
      const now = Date.now();
      if (holds && applyAll(model.entries, mutations, "", now) === undefined) {
        await assert.rejects(atomic.commit(), { code: "KW_VALUE_NOT_U64" });
        return;
      }
      const result = await atomic.commit();
      assert.equal(result.ok, holds);
      if (!result.ok) return;
      assert.ok(result.versionstamp > model.lastVersionstamp);
      model.lastVersionstamp = result.versionstamp;
      model.entries = applyAll(model.entries, mutations, result.versionstamp, now)!;
    },
  );
}

function optionsOf({ expireIn }: Mutation & { type: "set" }): KvSetOptions {
  return expireIn === undefined ? {} : { expireIn };
}

function makeCheck(model: Model, key: KvKey, kind: CheckKind): AtomicCheck {
  if (kind === "absent") return { key, versionstamp: null };
  if (kind === "stale") return { key, versionstamp: "0".repeat(20) };
  return { key, versionstamp: find(model.entries, key).versionstamp };
}

function find(entries: readonly KvEntry<unknown>[], key: KvKey): KvEntryMaybe<unknown> {
  const entry = entries.find((each) => compareParts(each.key, key) === 0);
  return entry ?? { key, value: null, versionstamp: null };
}

/** The entries after some mutations; undefined where one of them is refused. */
function applyAll(
  entries: readonly KvEntry<unknown>[],
  mutations: readonly Mutation[],
  versionstamp: string,
  now: number,
): readonly KvEntry<unknown>[] | undefined {
  let after = entries;
  for (const mutation of mutations) {
    const { key } = mutation;
    const others = after.filter((each) => compareParts(each.key, key) !== 0);
    if (mutation.type === "set") {
      const { value, expireIn } = mutation;
      const entry = { key, value, versionstamp };
      others.push(expireIn === undefined ? entry : { ...entry, expireAt: now + expireIn });
    } else if (mutation.type !== "delete") {
      const stored = find(after, key);
      if (stored.versionstamp !== null && !(stored.value instanceof KvU64)) return undefined;
      const before = stored.value instanceof KvU64 ? stored.value.value : undefined;
      const value = new KvU64(combined(mutation.type, before, mutation.operand));
      others.push({ key, value, versionstamp });
    }
    after = others.sort((a, b) => compareParts(a.key, b.key));
  }
  return after;
}

function combined(type: "sum" | "min" | "max", stored: bigint | undefined, operand: bigint) {
  if (stored === undefined) return operand;
  if (type === "sum") return (stored + operand) % (largest + 1n);
  const isLess = stored < operand;
  return isLess === (type === "min") ? stored : operand;
}

/** Reads the watch where it must have something to report: the state as it is now. */
async function readWatch(model: Model, { reports }: Watched): Promise<void> {
  const expected = watchedKeys.map((key) => find(model.entries, key));
  const versionstamps = expected.map((entry) => entry.versionstamp);
  if (versionstamps.every((each, index) => each === model.reported?.[index])) return;
  const { value } = await reports.read();
  assertEntries(value!, expected);
  model.reported = versionstamps;
}

/** Compares entries; when they expire need not be the same to the minute. */
function assertEntries(
  actual: readonly KvEntryMaybe<unknown>[],
  expected: readonly KvEntryMaybe<unknown>[],
): void {
  const withoutExpiry = ({ key, value, versionstamp }: KvEntryMaybe<unknown>) => ({
    key,
    value,
    versionstamp,
  });
  assert.deepEqual(actual.map(withoutExpiry), expected.map(withoutExpiry));
  for (const [index, entry] of actual.entries()) {
    const [time, expectedTime] = [expiryOf(entry), expiryOf(expected[index]!)];
    assert.equal(time === undefined, expectedTime === undefined);
    assert.ok(Math.abs((time ?? 0) - (expectedTime ?? 0)) < 60_000);
  }
}

function expiryOf(entry: KvEntryMaybe<unknown>): number | undefined {
  return "expireAt" in entry ? entry.expireAt : undefined;
}

async function assertList(
  model: Model,
  kv: Kv,
  selector: KvListSelector,
  options: KvListOptions,
): Promise<void> {
  const selected = model.entries.filter((entry) => isSelected(entry.key, selector));
  if (options.reverse) selected.reverse();
  const listed: KvEntry<unknown>[] = [];
  for await (const entry of kv.list(selector, options)) {
    listed.push(entry);
    assert.ok(listed.length <= selected.length, "there are more than there should be");
  }
  assertEntries(listed, selected.slice(0, options.limit));
}

function isSelected(key: KvKey, selector: KvListSelector): boolean {
  if (
    "prefix" in selector &&
    !(key.length > selector.prefix.length && hasPartPrefix(key, selector.prefix))
  )
    return false;
  if ("start" in selector && compareParts(key, selector.start) < 0) return false;
  return !("end" in selector && compareParts(key, selector.end) >= 0);
}
