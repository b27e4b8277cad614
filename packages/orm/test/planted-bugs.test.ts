import { type AtomicOperation, type Kv, type KvKey, openKv } from "@keywright/core";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { createDatabase } from "../src/index.js";
import { ToldResults } from "./concurrent-clients.js";
import { type AnyThings, stepsFor } from "./model-session.js";
import { type RandomModel, randomModel } from "./random-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";

/** Changes an atomic operation, so that it does something wrong. */
type Bug = (operation: AtomicOperation) => void;

const isEntry = (key: readonly unknown[]) => String(key[0]).startsWith("things_");
const isRow = (key: readonly unknown[]) => key[0] === "things";
const isCounter = (key: readonly unknown[]) => key[1] === "count";

const bugs: Readonly<Record<string, Bug>> = {
  "none of its entries is removed": (operation) => {
    const remove = operation.delete.bind(operation);
    operation.delete = (key) => (isEntry(key) ? operation : remove(key));
  },
  "an entry is not written": (operation) => {
    const set = operation.set.bind(operation);
    operation.set = (key, value, options) => (isEntry(key) ? operation : set(key, value, options));
  },
  "an entry points to another row": (operation) => {
    const set = operation.set.bind(operation);
    operation.set = (key, value, options) => set(key, isEntry(key) ? "stale" : value, options);
  },
  "a row is deleted and its entries stay": (operation) => {
    const mutations: (() => unknown)[] = [];
    const remove = operation.delete.bind(operation);
    const commit = operation.commit.bind(operation);
    let deletesRow = false;
    operation.delete = (key) => {
      if (isRow(key)) deletesRow = true;
      if (isEntry(key)) mutations.push(() => remove(key));
      else remove(key);
      return operation;
    };
    operation.commit = async () => {
      if (!deletesRow) for (const mutate of mutations) mutate();
      return await commit();
    };
  },
  "a count is not kept": (operation) => {
    const sum = operation.sum.bind(operation);
    operation.sum = (key, n) => (isCounter(key) ? operation : sum(key, n));
  },
  "the row is not checked": withoutChecks(isRow),
  "a unique entry is not checked": withoutChecks(isEntry),
};

function withoutChecks(isLeftOut: (key: KvKey) => boolean): Bug {
  return (operation) => {
    const check = operation.check.bind(operation);
    operation.check = (...checks) => check(...checks.filter(({ key }) => !isLeftOut(key)));
  };
}

/** A database whose atomic operations have a bug. */
function brokenKv(kv: Kv, bug: Bug): Kv {
  return new Proxy(kv, {
    get(target, property) {
      if (property === "atomic") {
        return () => {
          const operation = target.atomic();
          bug(operation);
          return operation;
        };
      }
      const member: unknown = Reflect.get(target, property, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

const clients = randomModel
  .filter(({ generatesId }) => !generatesId)
  .chain((random) =>
    fc.record({
      random: fc.constant(random),
      scripts: fc.array(stepsFor(random, 12), { minLength: 3, maxLength: 3 }),
    }),
  );

/** What clients at the same time leave behind, as the tests of this package judge it. */
function verification(wrap: (kv: Kv) => Kv) {
  return fc.asyncProperty(clients, async ({ random, scripts }) => {
    const kv = await openKv();
    try {
      const told = new ToldResults(random);
      await Promise.all(scripts.map((script) => runAnyway(wrap(kv), random, script, told)));
      await expectIndexesToMatch(kv, random.model);
      await told.expectIn(kv);
    } finally {
      await kv.close();
    }
  });
}

/** Continues whatever a call throws: what it leaves behind is what counts here. */
async function runAnyway(
  kv: Kv,
  random: RandomModel,
  script: Parameters<ToldResults["run"]>[1],
  told: ToldResults,
): Promise<void> {
  const db = await createDatabase({ kv, models: { things: random.model } });
  for (const step of script) {
    await told.run(db as unknown as AnyThings, [step]).catch(() => undefined);
  }
}

it("finds nothing where there is no bug", async () => {
  await fc.assert(
    verification((kv) => kv),
    { numRuns: 30 },
  );
});

it.each(Object.entries(bugs))("finds out where %s", async (_name, bug) => {
  const found = await fc.check(
    verification((kv) => brokenKv(kv, bug)),
    {
      numRuns: 500,
      endOnFailure: true,
    },
  );
  expect(found.failed).toBe(true);
});
