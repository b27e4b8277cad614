// Kills processes that write to a database with a log, follow it, back it up and restore it, cuts
// the power of the database, and lets calls of the system fail:
// `npm run soak:log -- --kills 500 --cuts 200 --faults 500`.
// `--minutes 10` ends the kills earlier, and `--engine etcd` kills only on one engine. Exits with 1
// if something is missing or wrong.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { isBuiltin } from "node:module";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { nodeWithSqlite } from "../../scripts/with-sqlite.mjs";
import { missingPreload } from "../shared/preload.mjs";
import { Random } from "../shared/random.mjs";
import { writeResults } from "../shared/write-results.mjs";
import { cutPowerOfLog } from "./cut-power-of-log.mjs";
import { failCallsOfLog } from "./fail-calls-of-log.mjs";
import { runLog } from "./log-run.mjs";
import { places } from "./places.mjs";

const killsOfOneDatabase = 12;
const momentsOfOneDatabase = 120;
const cutsOfOneDatabase = 20;
/** The engines whose power is cut, with the names of their files. */
const files = [["LevelDB"], ["LMDB", "data.mdb"], ["SQLite", "data.sqlite"]];

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "500" },
    cuts: { type: "string", default: "200" },
    faults: { type: "string", default: "500" },
    minutes: { type: "string", default: "Infinity" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    engine: { type: "string" },
  },
});
if (values.engine !== undefined && !Object.hasOwn(places, values.engine))
  throw new Error(`--engine must be one of ${Object.keys(places).join(", ")}`);

let seed = Number(values.seed);
const cuts = { full: 0, relaxed: 0, continued: 0, refused: 0 };
const cutEngines = {};
const faults = { faults: 0, refused: 0 };
const figures = {
  ...{ kills: {}, commits: 0, moments: {}, restored: 0 },
  ...{ cuts, cutEngines, faults, problems: 0 },
};

function report(what, problems) {
  for (const problem of problems) console.error(`${what}, seed ${seed}: ${problem}`);
  figures.problems += problems.length;
  seed++;
}

/** Kills on all engines in turn. */
async function killAll(names, kills) {
  const servers = new Map();
  try {
    for (const name of names) {
      const { isInstalled = true, title, start } = places[name];
      if (isInstalled) servers.set(name, await start());
      else console.log(`No kills on ${title}: it is not installed.`);
    }
    const end = performance.now() + Number(values.minutes) * 60_000;
    while (sumOf(figures.kills) < kills) {
      for (const [name, server] of servers)
        if (performance.now() < end) await killOn(places[name], server);
      if (performance.now() >= end) return;
    }
  } finally {
    for (const server of servers.values()) await server.stop();
  }
}

async function killOn(place, server) {
  const { kills, commits, moments, restored, problems } = await runLog({
    ...{ place, server, kills: killsOfOneDatabase, moments: momentsOfOneDatabase },
    random: new Random(seed),
  });
  for (const [role, count] of Object.entries(kills)) add(figures.kills, role, count);
  add(figures.moments, place.title, moments);
  figures.commits += commits;
  figures.restored += restored;
  report(place.title, problems);
}

async function cutAll(count) {
  const missing = missingPreload();
  if (missing !== undefined) console.error(`no power cuts: they need ${missing}`);
  for (let made = 0; missing === undefined && made < count; made += cutsOfOneDatabase) {
    const random = new Random(seed);
    const durability = cuts.full > cuts.relaxed ? "relaxed" : "full";
    const [title, file] = files[Math.floor(made / cutsOfOneDatabase / 2) % files.length];
    const { continued, refused, problems } = await cutPowerOfLog({
      ...{ file, durability, commits: 600, cuts: cutsOfOneDatabase, random },
      valueBytes: random.pick([300, 3_000]),
    });
    add(cuts, durability, cutsOfOneDatabase);
    add(cuts, "continued", continued);
    add(cuts, "refused", refused);
    add(cutEngines, title, cutsOfOneDatabase);
    report(`power cut of ${title}, ${durability}`, problems);
  }
}

async function failAll(count) {
  const missing = missingPreload();
  if (missing !== undefined) console.error(`no failing calls: they need ${missing}`);
  if (missing !== undefined || count === 0) return;
  const { problems, ...counts } = await failCallsOfLog(count, new Random(seed));
  Object.assign(faults, counts);
  report("failing call", problems);
}

function add(counts, name, count) {
  counts[name] = (counts[name] ?? 0) + count;
}

function listOf(counts) {
  return Object.entries(counts)
    .map(([title, count]) => `${count} on ${title}`)
    .join(", ");
}

function sumOf(counts) {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

async function main() {
  const names = values.engine === undefined ? Object.keys(places) : [values.engine];
  if (Number(values.kills) > 0) await killAll(names, Number(values.kills));
  await cutAll(Number(values.cuts));
  await failAll(Number(values.faults));
  writeResults(
    "log",
    figures,
    `${sumOf(figures.kills)} kills with ${figures.commits} commits acknowledged; ` +
      `${listOf(figures.moments)} of earlier states and ${figures.restored} restored ones compared; ` +
      `${cuts.full} power cuts with full durability and ${cuts.relaxed} with relaxed ` +
      `(${listOf(cutEngines)}), after which ` +
      `${cuts.continued} backups were continued and ${cuts.refused} had to be full; ` +
      `${faults.faults} runs with a call of the system that failed, ${faults.refused} of them with ` +
      `refused calls; ` +
      `${figures.problems} wrong`,
  );
  if (figures.problems > 0) process.exitCode = 1;
}

if (isBuiltin("node:sqlite")) await main();
else {
  // All processes need a Node.js that has SQLite.
  const child = spawn(
    nodeWithSqlite(),
    [fileURLToPath(import.meta.url), ...process.argv.slice(2)],
    { stdio: "inherit", env: { ...process.env, NODE_NO_WARNINGS: "1" } },
  );
  [process.exitCode] = await once(child, "exit");
}
