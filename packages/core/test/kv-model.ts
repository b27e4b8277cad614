import assert from "node:assert/strict";
import fc from "fast-check";
import type { KvKey, KvKeyPart } from "../src/keys/key.js";
import type { KvListSelector } from "../src/keys/key-range.js";
import type { AtomicCheck, Kv, KvEntry, KvListOptions } from "../src/kv/kv.js";
import { compareParts, hasPartPrefix } from "./key-order.js";

/** What a database holds, as a plain sorted list. */
interface Model {
  entries: KvEntry<unknown>[];
  lastVersionstamp: string;
}

type Mutation = { readonly key: KvKey; readonly value?: unknown };
type ModelCommand = fc.AsyncCommand<Model, Kv>;

/** How a check is made to hold or to fail. */
type CheckKind = "current" | "absent" | "stale";

/** Does the same things to a database and to a sorted list, in any order, and compares what they answer. */
export async function compareWithModel(create: () => Promise<Kv>, numRuns: number): Promise<void> {
  const property = fc.asyncProperty(fc.commands(commands, { maxCommands: 40 }), async (run) => {
    const kv = await create();
    try {
      const model: Model = { entries: [], lastVersionstamp: "" };
      await fc.asyncModelRun(() => ({ model, real: kv }), run);
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
const key = fc.array(part, { minLength: 1, maxLength: 3 });
const value = fc.oneof(
  fc.integer(),
  fc.constant(-0),
  fc.constant(undefined),
  fc.array(fc.string()),
);
const mutation: fc.Arbitrary<Mutation> = fc.record({ key, value }, { requiredKeys: ["key"] });
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
    command(`getMany(${fc.stringify(keys)})`, async (model, kv) => {
      const found = await kv.getMany(keys);
      assert.deepEqual(
        found,
        keys.map((each) => find(model, each)),
      );
    }),
  ),
  fc
    .tuple(selector, listOptions)
    .map(([chosen, options]) =>
      command(`list(${fc.stringify(chosen)}, ${fc.stringify(options)})`, (model, kv) =>
        assertList(model, kv, chosen, options),
      ),
    ),
];

function command(name: string, run: (model: Model, kv: Kv) => Promise<void>): ModelCommand {
  return { check: () => true, run, toString: () => name };
}

function commitCommand(
  checks: readonly (readonly [KvKey, CheckKind])[],
  mutations: readonly Mutation[],
): ModelCommand {
  return command(
    `commit(${fc.stringify(checks)}, ${fc.stringify(mutations)})`,
    async (model, kv) => {
      const made = checks.map(([checked, kind]) => makeCheck(model, checked, kind));
      const atomic = kv.atomic().check(...made);
      for (const each of mutations) {
        if ("value" in each) atomic.set(each.key, each.value);
        else atomic.delete(each.key);
      }
      const result = await atomic.commit();
      const holds = made.every(
        (check) => find(model, check.key).versionstamp === check.versionstamp,
      );
      assert.equal(result.ok, holds);
      if (!result.ok) return;
      assert.ok(result.versionstamp > model.lastVersionstamp);
      model.lastVersionstamp = result.versionstamp;
      for (const each of mutations) apply(model, each, result.versionstamp);
    },
  );
}

function makeCheck(model: Model, key: KvKey, kind: CheckKind): AtomicCheck {
  if (kind === "absent") return { key, versionstamp: null };
  if (kind === "stale") return { key, versionstamp: "0".repeat(20) };
  return { key, versionstamp: find(model, key).versionstamp };
}

function find(model: Model, key: KvKey) {
  const entry = model.entries.find((each) => compareParts(each.key, key) === 0);
  return entry ?? { key, value: null, versionstamp: null };
}

function apply(model: Model, mutation: Mutation, versionstamp: string): void {
  const { key } = mutation;
  const others = model.entries.filter((each) => compareParts(each.key, key) !== 0);
  if ("value" in mutation) others.push({ key, value: mutation.value, versionstamp });
  model.entries = others.sort((a, b) => compareParts(a.key, b.key));
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
  assert.deepEqual(listed, selected.slice(0, options.limit));
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
