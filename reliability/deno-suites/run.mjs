// Downloads the tests of Deno and denokv for a database into a temporary folder, and runs them in
// Deno with Keywright: `npm run soak:deno-suites`. With `--from <folder>` they are taken from there:
// `<folder>/deno/tests/unit/kv_test.ts`, and so on. With `--host <url>` they are downloaded from
// another server. Exits with 1 if they cannot be downloaded, if a test fails that is not expected to,
// or if one passes that is expected to fail.
import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { installRuntimes } from "../../scripts/runtimes/install.mjs";
import { runtimes } from "../../scripts/runtimes/runtimes.mjs";
import { writeResults } from "../shared/write-results.mjs";
import { DownloadError, downloadSuites } from "./download.mjs";
import { expected } from "./expected.mjs";
import { serveDatabases } from "./serve-databases.mjs";
import { places, suites } from "./suites.mjs";

/** That of Deno's tests. */
const token = "a".repeat(32);
const { values } = parseArgs({ options: { from: { type: "string" }, host: { type: "string" } } });
const folder = await mkdtemp(join(tmpdir(), "keywright-deno-suites-"));
let unexpected = 0;
try {
  if (values.from === undefined) await downloadSuites(suites, folder, { host: values.host });
  else await copySuites(values.from);
  await runSuites();
} catch (error) {
  if (!(error instanceof DownloadError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true });
}

async function copySuites(from) {
  for (const [name, { files }] of Object.entries(suites)) {
    for (const file of Object.keys(files)) {
      const path = join(folder, name, file);
      await mkdir(dirname(path), { recursive: true });
      await cp(join(from, name, file), path);
    }
  }
}

/** Runs all suites in each place, and stores the figures. */
async function runSuites() {
  const [deno] = installRuntimes(runtimes.filter(({ name }) => name === "deno"));
  const figures = { deno: deno.install.split("@")[1], suites: {} };
  const imports = {
    "@keywright/core": new URL("../../packages/core/dist/index.js", import.meta.url).href,
  };
  for (const suite of Object.values(suites)) Object.assign(imports, suite.imports);
  await writeFile(join(folder, "import-map.json"), JSON.stringify({ imports }));
  const servers = await serveDatabases(token);
  try {
    for (const [name, { version }] of Object.entries(suites)) {
      figures.suites[name] = { version };
      for (const place of Object.keys(places)) {
        const tests = await runSuite(deno, servers, name, place);
        figures.suites[name][place] = compare(name, place, tests);
      }
    }
  } finally {
    await servers.stop();
  }
  const all = Object.values(figures.suites).flatMap(({ compat, connect }) => [compat, connect]);
  const sum = (name) => all.reduce((total, counts) => total + counts[name], 0);
  writeResults(
    "deno-suites",
    figures,
    `${sum("passed")} tests passed, ${sum("failed")} failed as expected, ${unexpected} otherwise`,
    false,
  );
  if (unexpected > 0) process.exitCode = 1;
}

/** Returns the tests of a suite that were run, each with its problem if it has failed. */
async function runSuite(deno, servers, name, place) {
  const program = fileURLToPath(new URL("run-in-deno.mjs", import.meta.url));
  const map = join(folder, "import-map.json");
  const file = join(folder, name, Object.keys(suites[name].files)[0]);
  const flags = ["-A", "--unstable-kv", "--no-check", "--node-modules-dir=manual"];
  const args = ["run", ...flags, `--import-map=${map}`, program, file, name, place, servers.url];
  // The queue prints the errors of handlers, and clients what they do not support.
  const child = spawn(deno.program, args, {
    cwd: fileURLToPath(new URL("../..", import.meta.url)),
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, DENO_KV_ACCESS_TOKEN: token },
  });
  const [out, errors] = [[], []];
  child.stdout.on("data", (chunk) => out.push(chunk));
  child.stderr.on("data", (chunk) => errors.push(chunk));
  const code = await new Promise((resolve) => {
    child.once("close", resolve);
  });
  const lines = Buffer.concat(out).toString().split("\n");
  const tests = lines.filter((line) => line.startsWith('{"name"')).map((line) => JSON.parse(line));
  if (code !== 0 || tests.length === 0)
    throw new Error(`${name} ended with ${code}: ${Buffer.concat(errors).toString().slice(-2000)}`);
  return tests;
}

/** Compares the failed tests with those that are expected to fail, and counts both. */
function compare(name, place, tests) {
  const reasons = Object.entries(expected[name][place]);
  const counts = { passed: 0, failed: 0, reasons: {} };
  for (const test of tests) {
    const reason = reasons.find(([, names]) => names.some((each) => isNamed(test.name, each)))?.[0];
    const isFailed = test.problem !== undefined;
    if (isFailed === (reason !== undefined)) {
      if (!isFailed) counts.passed++;
      else {
        counts.failed++;
        counts.reasons[reason] = (counts.reasons[reason] ?? 0) + 1;
      }
      continue;
    }
    unexpected++;
    const problem = isFailed ? test.problem : `it passes, although: ${reason}`;
    console.error(`${suites[name].title}, ${place}, ${test.name}: ${problem}`);
  }
  return counts;
}

function isNamed(name, pattern) {
  return pattern.endsWith("*") ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
