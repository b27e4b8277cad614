// `npm run test:runtimes`: runs the tests that depend on the runtime, on all runtimes of
// docs/runtimes.md except the one that runs this script, which has the other scripts.
// `npm run test:runtimes -- node24 bun` runs them only on these runtimes.
// `npm run test:runtimes -- --main` runs those that matter most, as CI does.
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { installRuntimes } from "./install.mjs";
import { miniflare, oldRuntime, runtimes } from "./runtimes.mjs";
import {
  copyInDeno,
  denoClient,
  entryPoints,
  goldenDatabase,
  installPacked,
  inWorkerd,
  mainSuites,
  suites,
} from "./suites.mjs";

const ownName = `node${process.versions.node.split(".")[0]}`;
const isMain = process.argv.includes("--main");
const names = process.argv.slice(2).filter((name) => name !== "--main");
const unknown = names.filter((name) => !runtimes.some((runtime) => runtime.name === name));
if (unknown.length > 0) {
  console.error(
    `Unknown runtime: ${unknown.join(", ")}. Choose from ${runtimes.map((r) => r.name).join(", ")}.`,
  );
  process.exit(2);
}
const own = { name: ownName, program: process.execPath, args: [] };
const others = runtimes.filter(({ name }) => name !== ownName);
const installed = installRuntimes([oldRuntime, miniflare, ...others]);
const [old, workerd, ...all] = installed;
const tested = names.length === 0 ? all : all.filter(({ name }) => names.includes(name));

const started = Date.now();
const folder = await mkdtemp(join(tmpdir(), "keywright-runtimes-"));
let passed = 0;
let failed = 0;
try {
  const packed = join(folder, "packed");
  const packing = check(own, {
    name: "packs and installs the packages",
    args: [installPacked, packed],
  });
  await runAll([
    () => packing,
    ...longestFirst(packed).map(({ runtime, suite }) => async () => {
      if (suite.env?.KEYWRIGHT_PACKED !== undefined) await packing;
      await check(runtime, suite);
    }),
    ...tested
      .filter(({ name }) => name === "deno")
      .map(({ program }) => async () => {
        const args = [copyInDeno, program, packed];
        await packing;
        await check(own, { name: "reads what keywright copy has copied in Deno", args });
      }),
    ...tested
      .filter(({ name }) => name === "deno")
      .map((runtime) => () => check(runtime, denoClient)),
    ...tested
      .filter(({ name }) => name === "node22")
      .map((runtime) => () => {
        return check(runtime, { name: "contracts in workerd", args: [inWorkerd, workerd.program] });
      }),
    ...entryPoints.map((args) => () => checkRefused(old, args)),
  ]);
  await checkGoldenDatabases([own, ...all]);
} finally {
  await rm(folder, { recursive: true, force: true });
}
console.log(`${passed} passed, ${failed} failed in ${seconds(started)}`);
process.exitCode = failed === 0 ? 0 : 1;

/** Returns the first suite of each runtime, which is its longest, then the second ones, and so on. */
function longestFirst(packed) {
  return tested
    .flatMap((runtime) =>
      suitesOf(runtime.name, packed).map((suite, place) => ({ runtime, suite, place })),
    )
    .sort((a, b) => a.place - b.place);
}

function suitesOf(name, packed) {
  const cities = join(folder, "cities", name);
  return isMain ? mainSuites(name, cities, packed) : suites(cities, packed);
}

/** Runs tasks, one more at a time than there are processors, because tasks sometimes wait. */
async function runAll(tasks) {
  const queue = tasks.values();
  const worker = async () => {
    for (const task of queue) await task();
  };
  await Promise.all(Array.from({ length: availableParallelism() + 1 }, worker));
}

/** Checks that each runtime reads the databases that all runtimes have written. */
async function checkGoldenDatabases(all) {
  const paths = all.map(({ name }) => join(folder, name));
  for (const [i, runtime] of all.entries())
    await check(runtime, { name: "writes a database", args: [goldenDatabase, "write", paths[i]] });
  // One after another, because only one process at a time can open a database.
  for (const runtime of all)
    await check(runtime, { name: "reads all databases", args: [goldenDatabase, "read", ...paths] });
}

/** Checks that a script succeeds on a runtime and prints what it should. */
async function check(runtime, { name, args, env, prints = /^/ }) {
  const since = Date.now();
  const { exitCode, output } = await run(runtime, args, env);
  report(exitCode === 0 && prints.test(output), `${runtime.name}: ${name}`, since, output);
}

/** Checks that a script fails on a runtime with the message that the runtime is too old. */
async function checkRefused(runtime, args) {
  const since = Date.now();
  const { exitCode, output } = await run(runtime, args);
  const isRefused = /Keywright needs Node\.js 20\.15.*Node\.js v?18\./i.test(output);
  report(
    exitCode === 1 && isRefused,
    `${runtime.name}: refused as too old by ${args[0]}`,
    since,
    output,
  );
}

function report(isGood, name, since, output) {
  if (isGood) passed++;
  else failed++;
  console.log(`${isGood ? "ok" : "FAILED"}  ${name}  ${seconds(since)}`);
  // The end names the failures. What comes before is mostly errors that tests provoke.
  if (!isGood) console.log(output.split("\n").slice(-80).join("\n"));
}

function run({ program, args: before }, args, env = {}) {
  return new Promise((resolve, reject) => {
    // Without colors, so that the output can be compared.
    const child = spawn(program, [...before, ...args], {
      env: { ...process.env, NO_COLOR: "1", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    child.on("error", reject);
    child.on("close", (exitCode) => resolve({ exitCode, output }));
  });
}

function seconds(since) {
  return `${((Date.now() - since) / 1000).toFixed(0)} s`;
}
