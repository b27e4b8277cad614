// Runs the suite of the ORM without a test runner, on Deno's own database: `npm run test:deno -w @keywright/orm`.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKv } from "@keywright/core";
import * as orm from "@keywright/orm";
import { ormSuite } from "../orm-suite.ts";

const { Deno } = globalThis;

/** @type {{ name: string, body: () => Promise<void> }[]} */
const tests = [];
let group = "";

const runner = {
  describe(name, body) {
    group = name;
    body();
  },
  it: (name, body) => void tests.push({ name: `${group}: ${name}`, body }),
};

ormSuite(runner, {
  name: "Keywright on disk",
  orm,
  open: () => openIn((folder) => openKv(join(folder, "kv"), { durability: "relaxed" })),
});

if (Deno) {
  ormSuite(runner, {
    name: "Deno.openKv()",
    orm,
    open: () => openIn((folder) => Deno.openKv(join(folder, "kv.sqlite"))),
  });
}

const started = Date.now();
let failed = 0;
for (const { name, body } of tests) {
  try {
    await withinSeconds(30, body());
  } catch (error) {
    failed++;
    console.error(`FAIL ${name}\n${error?.stack ?? error}\n`);
  }
}
const runtime = Deno ? `Deno ${Deno.version.deno}` : process.version;
const seconds = ((Date.now() - started) / 1000).toFixed(1);
console.log(`${runtime}: ${tests.length - failed} passed, ${failed} failed, ${seconds} s`);
process.exit(failed === 0 ? 0 : 1);

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

async function openIn(open) {
  const folder = await mkdtemp(join(tmpdir(), "keywright-"));
  const kv = await open(folder);
  return {
    kv,
    async dispose() {
      await kv.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
