// `npm run bench`: measures everything, and writes `results` and docs/benchmarks.md. `npm run bench
// -- --size 100000 --cases byId,byEmail --contenders keywright-level,drizzle` measures a part and
// replaces only its figures.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { cases } from "./cases.mjs";
import { contenders } from "./contenders/index.mjs";
import { measureFootprint } from "./measure/footprint.mjs";
import { measureJobs } from "./measure/jobs.mjs";
import { runCases } from "./measure/run-cases.mjs";
import { machine } from "./page/machine.mjs";
import { writePage } from "./page/page.mjs";

const { values } = parseArgs({
  options: {
    size: { type: "string" },
    cases: { type: "string" },
    contenders: { type: "string" },
    jobs: { type: "string" },
    rounds: { type: "string", default: "15" },
    milliseconds: { type: "string", default: "100" },
  },
});
const usual = 10_000;
/**
 * Larger databases are measured with fewer cases and contenders, because they take long to fill.
 */
const large = {
  cases: ["byId", "byEmail", "byColor", "page", "totals", "entries", "create", "createTogether"],
  contenders: [
    ...["keywright-level", "keywright-lmdb", "keywright-sqlite"],
    ...["raw-level", "lmdb-by-hand", "drizzle", "drizzle-prepared"],
  ],
};
const plans = [{ size: usual }, { size: 100_000, ...large }, { size: 1_000_000, ...large }];
const jobsSizes = [10_000, 100_000, 1_000_000, 10_000_000];

const effort = { rounds: Number(values.rounds), milliseconds: Number(values.milliseconds) };
if (values.jobs === undefined) {
  const isPart = values.size !== undefined || values.cases !== undefined;
  const chosen = isPart ? [{ size: Number(values.size ?? usual) }] : plans;
  for (const plan of chosen) await measurePlan(plan);
}
if (values.cases === undefined && values.contenders === undefined) {
  const sizes = values.size === undefined ? jobsSizes : [Number(values.size)];
  for (const size of sizes) {
    const file = results(`jobs-${size}`);
    const names = values.jobs?.split(",");
    save(file, await measureJobs(size, names, console.log));
  }
}
if (Object.keys(values).every((name) => ["rounds", "milliseconds"].includes(name)))
  save(results("footprint"), await measureFootprint(console.log));
writePage();

async function measurePlan(plan) {
  const names = values.cases?.split(",") ?? plan.cases;
  const contenderNames = values.contenders?.split(",") ?? plan.contenders;
  const folder = await mkdtemp(join(tmpdir(), "keywright-bench-"));
  try {
    const figures = await runCases(
      cases.filter(({ name }) => names === undefined || names.includes(name)),
      contenders.filter(
        ({ name }) => contenderNames === undefined || contenderNames.includes(name),
      ),
      { folder, count: plan.size, effort, note: console.log },
    );
    saveCases(results(`cases-${plan.size}`), figures);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function results(name) {
  return fileURLToPath(new URL(`results/${name}.json`, import.meta.url));
}

/**
 * Notes if each contender had a process of its own in all figures. Earlier ones shared a process.
 */
function saveCases(file, figures) {
  const before = stored(file);
  const isOwn =
    before.processes === "own" ||
    Object.entries(before.figures).every(([name, rounds]) =>
      Object.keys(rounds).every((contender) => figures[name]?.[contender] !== undefined),
    );
  save(file, figures, isOwn ? { processes: "own" } : {});
}

/** Figures that were not measured now stay. */
function save(file, figures, facts = {}) {
  const all = stored(file).figures;
  for (const [name, found] of Object.entries(figures)) all[name] = { ...all[name], ...found };
  writeFileSync(file, `${JSON.stringify({ ...machine(), ...facts, figures: all }, rounded, 1)}\n`);
}

function stored(file) {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : { figures: {} };
}

function rounded(_key, value) {
  return typeof value === "number" ? Number(value.toPrecision(5)) : value;
}
