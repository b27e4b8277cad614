// Runs one job in a process of its own and prints its figures as JSON:
// `job.mjs <job> <contender> <folder> <size>`.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { contenders } from "../contenders/index.mjs";
import { backfill, engines } from "../contenders/keywright.mjs";
import { openSqlite } from "../contenders/sqlite.mjs";
import { idOf, Sequence, userOf } from "../rows.mjs";

const [job, name, folder, sizeText] = process.argv.slice(2);
const size = Number(sizeText);
const contender = contenders.find((each) => each.name === name);
const path = join(folder, name);
const rowsAtOnce = 10_000;
const coldReads = 300;

const jobs = { fill, open, cold, backfill: addIndex };
const figures = await jobs[job]();
console.log(JSON.stringify({ ...figures, peakMiB: peakMemory() }));

async function fill() {
  const store = await contender.open(path);
  const start = performance.now();
  for (let from = 0; from < size; from += rowsAtOnce) {
    const length = Math.min(rowsAtOnce, size - from);
    await store.load(
      Array.from({ length }, (_, i) => userOf(from + i, size)),
      [],
    );
  }
  const seconds = secondsSince(start);
  await store.close();
  writeFileSync(join(folder, "ids.json"), JSON.stringify(sampleOfIds()));
  return { rowsPerSecond: size / seconds, bytesPerRow: bytesIn(folder) / size };
}

/** Ids have a random part, so later jobs need those of this process. */
function sampleOfIds() {
  const sequence = new Sequence();
  return Array.from({ length: coldReads }, () => idOf(sequence.below(size)));
}

async function open() {
  const [id] = ids();
  const start = performance.now();
  const store = await contender.open(path);
  const user = await store.byId(id);
  const milliseconds = secondsSince(start) * 1000;
  if (user?.id !== id) throw new Error("The user is not there.");
  await store.close();
  return { milliseconds };
}

/** Reads of users that are neither in the cache of the process nor in that of the system. */
async function cold() {
  const wanted = ids();
  const isCold = dropCaches();
  const store = await contender.open(path);
  const times = [];
  for (const id of wanted) {
    const start = performance.now();
    const user = await store.byId(id);
    times.push((performance.now() - start) * 1000);
    if (user?.id !== id) throw new Error("The user is not there.");
  }
  await store.close();
  times.sort((a, b) => a - b);
  return { isCold, p50: times[times.length >> 1], p99: times[Math.floor(times.length * 0.99)] };
}

async function addIndex() {
  if (name.startsWith("keywright-")) {
    const engine = engines[name.slice("keywright-".length)];
    return { rowsPerSecond: size / (await backfill(engine.open, path)) };
  }
  const sqlite = openSqlite(`${path}.sqlite`, "full");
  const start = performance.now();
  sqlite.exec('CREATE INDEX "User_age_idx" ON "User" ("age")');
  const seconds = secondsSince(start);
  sqlite.close();
  return { rowsPerSecond: size / seconds };
}

function ids() {
  return JSON.parse(readFileSync(join(folder, "ids.json"), "utf8"));
}

/** Needs the rights of an administrator. Returns false without them. */
function dropCaches() {
  try {
    execFileSync("sh", ["-c", "sync && echo 3 > /proc/sys/vm/drop_caches"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

function bytesIn(directory) {
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !/(-lock|ids\.json)$/.test(entry.name))
    .reduce(
      (sum, entry) => sum + statSync(join(entry.parentPath ?? entry.path, entry.name)).size,
      0,
    );
}

/** The most memory that was resident, in MiB. `resourceUsage` also counts that of the parent. */
function peakMemory() {
  try {
    const status = readFileSync("/proc/self/status", "utf8");
    return Number(/VmHWM:\s+(\d+) kB/.exec(status)[1]) / 1024;
  } catch {
    return process.resourceUsage().maxRSS / 1024;
  }
}

function secondsSince(start) {
  return (performance.now() - start) / 1000;
}
