// `npm run scorecard`: runs the contract suites on every runtime and writes results.json, from
// which the site makes its scorecard. `npm run scorecard -- node20 bun packages/etcd` runs them on
// these runtimes, and those of these packages, only. The other stored results stay.
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installRuntimes } from "../../scripts/runtimes/install.mjs";
import { runtimes as installed } from "../../scripts/runtimes/runtimes.mjs";
import { countGroups, didNotFinish } from "./count-groups.mjs";
import { browserSuites, suites } from "./suites.mjs";

/** Milliseconds after which the tests of one package are stopped. */
const patience = 20 * 60_000;

/** The browser of the system. Vitest runs in Node.js and sends the tests to it. */
const chromium = {
  name: "chromium",
  program: process.execPath,
  args: [],
  options: ["--config", "vitest.browser.config.ts"],
};
const runtimes = [...installed, chromium];

const root = fileURLToPath(new URL("../../", import.meta.url));
const resultsFile = fileURLToPath(new URL("results.json", import.meta.url));
const folders = process.argv.slice(2).filter((word) => word.startsWith("packages/"));
const names = process.argv.slice(2).filter((word) => !word.startsWith("packages/"));
const unknown = names.filter((name) => !runtimes.some((runtime) => runtime.name === name));
if (unknown.length > 0) {
  const known = runtimes.map(({ name }) => name).join(", ");
  console.error(`Unknown runtime: ${unknown.join(", ")}. Choose from ${known}.`);
  process.exit(2);
}
const chosen = runtimes.filter(({ name }) => names.length === 0 || names.includes(name));
const own = `node${process.versions.node.split(".")[0]}`;
const others = installRuntimes(
  chosen.filter((runtime) => runtime.name !== own && runtime !== chromium),
);
const programs = chosen.map((runtime) =>
  runtime === chromium
    ? { ...chromium, install: `chromium@${versionOfChromium()}` }
    : (others.find(({ name }) => name === runtime.name) ?? {
        ...runtime,
        program: process.execPath,
        install: `node@${process.versions.node}`,
      }),
);

const folder = mkdtempSync(join(tmpdir(), "keywright-scorecard-"));
let failures = 0;
try {
  for (const runtime of programs) {
    const version = runtime.install.slice(runtime.install.lastIndexOf("@") + 1);
    const day = new Date().toISOString().slice(0, 10);
    const files = {};
    const listed = runtime.name === "chromium" ? browserSuites : suites;
    for (const suite of listed.filter((each) => isChosen(each, runtime.name)))
      Object.assign(files, await runSuite(runtime, suite));
    const stored = existsSync(resultsFile) ? JSON.parse(readFileSync(resultsFile, "utf8")) : {};
    const kept = folders.length === 0 ? {} : stored[runtime.name]?.files;
    stored[runtime.name] = { version, day, files: { ...kept, ...files } };
    writeFileSync(resultsFile, `${JSON.stringify(inOrder(stored), null, 1)}\n`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failures === 0 ? 0 : 1;

function isChosen({ folder: packageFolder, except = [] }, name) {
  return (folders.length === 0 || folders.includes(packageFolder)) && !except.includes(name);
}

/** Runs the files of one package on a runtime. Returns the counts of their test groups. */
async function runSuite(runtime, { folder: packageFolder, files }) {
  const report = join(folder, `${runtime.name}-${packageFolder.replaceAll("/", "-")}.json`);
  const { output } = await run(runtime, [
    join(root, "node_modules/vitest/vitest.mjs"),
    "run",
    "--reporter=json",
    `--outputFile=${report}`,
    "--root",
    join(root, packageFolder),
    ...(runtime.options ?? []),
    ...files,
  ]);
  if (!existsSync(report)) {
    failures++;
    console.log(
      `FAILED  ${runtime.name}: ${packageFolder} wrote no report\n${output.slice(-2000)}`,
    );
    return Object.fromEntries(files.map((file) => [`${packageFolder}/${file}`, didNotFinish]));
  }
  const counted = countGroups(JSON.parse(readFileSync(report, "utf8")), root);
  for (const [file, groups] of Object.entries(counted)) {
    const sums = [0, 0, 0];
    for (const counts of Object.values(groups))
      for (const place of sums.keys()) sums[place] += counts[place];
    const [passed, skipped, failed] = sums;
    if (failed > 0 || passed === 0) failures++;
    console.log(
      `${runtime.name}: ${file}: ${passed} passed, ${skipped} not supported, ${failed} failed`,
    );
  }
  return counted;
}

/** Returns `150.0.7871.46`. */
function versionOfChromium() {
  return execFileSync("chromium", ["--version"], { encoding: "utf8" }).match(/[\d.]+/)[0];
}

function run({ program, args }, more) {
  return new Promise((resolve, reject) => {
    const env = { ...process.env, NO_COLOR: "1" };
    const stdio = ["ignore", "pipe", "pipe"];
    const child = spawn(program, [...args, ...more], { env, stdio, cwd: root });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    const timer = setTimeout(() => child.kill("SIGKILL"), patience);
    child.on("error", reject);
    child.on("close", (exitCode) => {
      clearTimeout(timer);
      resolve({ exitCode, output });
    });
  });
}

/** The stored results in the order in which `runtimes` lists the runtimes. */
function inOrder(stored) {
  return Object.fromEntries(
    runtimes.flatMap(({ name }) => (stored[name] === undefined ? [] : [[name, stored[name]]])),
  );
}
