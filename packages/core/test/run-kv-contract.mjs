// Runs the Kv contract without a test runner, in the runtime that runs this: `npm run test:deno`, `npm run test:bun`.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKv } from "@keywright/core";
import { kvContract } from "@keywright/core/testing";
import { denoDifferences } from "./deno-kv-differences.ts";

const { Deno, Bun } = globalThis;
const runtime = Deno ? `Deno ${Deno.version.deno}` : Bun ? `Bun ${Bun.version}` : process.version;

/** @type {{ name: string, body: () => Promise<void> }[]} */
const tests = [];
let skipped = 0;
let group = "";

const runner = {
  describe(name, body) {
    group = name;
    body();
  },
  it: Object.assign((name, body) => tests.push({ name: `${group}: ${name}`, body }), {
    skip: () => skipped++,
  }),
};

kvContract(runner, {
  name: "Keywright in memory",
  create: async () => {
    const kv = await openKv();
    return { kv, dispose: () => kv.close() };
  },
});

kvContract(runner, {
  name: "Keywright on disk",
  capabilities: ["reopen"],
  create: () =>
    storeIn(async (folder) => await openKv(join(folder, "kv"), { durability: "relaxed" })),
});

if (Deno) {
  kvContract(runner, {
    name: "Deno.openKv()",
    KvU64: Deno.KvU64,
    capabilities: ["reopen"],
    differences: denoDifferences,
    create: () => storeIn((folder) => Deno.openKv(join(folder, "kv.sqlite"))),
  });
}

const started = Date.now();
const failures = [];
const queue = tests.values();
await Promise.all(Array.from({ length: 8 }, runTests));

for (const { name, error } of failures) console.error(`FAIL ${name}\n${error?.stack ?? error}\n`);
const passed = tests.length - failures.length;
const seconds = ((Date.now() - started) / 1000).toFixed(1);
console.log(
  `${runtime}: ${passed} passed, ${failures.length} failed, ${skipped} left out, ${seconds} s`,
);
process.exit(failures.length === 0 ? 0 : 1);

/** Runs tests, one after another, until none is left. */
async function runTests() {
  for (const { name, body } of queue) {
    try {
      await withinSeconds(10, body());
    } catch (error) {
      failures.push({ name, error });
    }
  }
}

async function withinSeconds(seconds, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error("the test does not end")), seconds * 1000);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function storeIn(open) {
  const folder = await mkdtemp(join(tmpdir(), "keywright-"));
  let kv = await open(folder);
  return {
    kv,
    async reopen() {
      await kv.close();
      kv = await open(folder);
      return kv;
    },
    async dispose() {
      try {
        await kv.close();
      } catch {
        // In Deno a second close() is an error, and the test may have closed it.
      }
      await rm(folder, { recursive: true, force: true });
    },
  };
}
