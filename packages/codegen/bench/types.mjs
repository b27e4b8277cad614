// Measures the cost of the types of 200 models for the compiler, prints the figures, and writes
// them to docs/type-cost.md: `npm run bench:types`. With `--quick` it uses 40 models and writes
// nothing.
import { spawnSync } from "node:child_process";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { typeCostPage, typeCostTables } from "./types-page.mjs";
import { writePrograms } from "./types-programs.mjs";

const page = new URL("../../../docs/type-cost.md", import.meta.url);
const worker = fileURLToPath(new URL("types-worker.mjs", import.meta.url));
const isQuick = process.argv.includes("--quick");
const count = isQuick ? 40 : 200;
const rounds = isQuick ? 1 : 3;

const folder = await realpath(await mkdtemp(join(tmpdir(), "keywright-bench-types-")));
try {
  const measured = { count, libraries: {} };
  for (const [name, parts] of Object.entries(await writePrograms(folder, count))) {
    console.error(`Checking the types of ${name} …`);
    measured.libraries[name] = await costsOf(parts);
  }
  console.log(typeCostTables(measured));
  if (!isQuick) await writeFile(page, typeCostPage(measured));
} finally {
  await rm(folder, { recursive: true, force: true });
}

/**
 * Returns the cost of each part of a program including the parts before it, and of one file of
 * queries in the whole program.
 */
async function costsOf({ imports, models, database, queries }) {
  const whole = [...models, ...database, ...queries];
  return {
    imports: await cost(imports),
    models: models.length === 0 ? undefined : await cost(models),
    database: await cost([...models, ...database]),
    whole: await median(whole),
    oneFile: await median(whole, queries[0]),
  };
}

/** What counts is the same each time; the times are the medians of all rounds. */
async function median(paths, only) {
  const costs = [];
  for (let round = 0; round < rounds; round++) costs.push(await cost(paths, only));
  const middle = (figure) =>
    costs.map((each) => each[figure]).sort((a, b) => a - b)[Math.floor(rounds / 2)];
  return { ...costs[0], reading: middle("reading"), checking: middle("checking") };
}

/** In a process of its own: what another has checked is neither in its memory nor compiled. */
async function cost(paths, only) {
  const list = join(folder, "paths.json");
  await writeFile(list, JSON.stringify(paths));
  const args = ["--expose-gc", worker, list, ...(only === undefined ? [] : [only])];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`Checking failed:\n${stderr}`);
  const { problems, ...figures } = JSON.parse(stdout);
  if (problems.length > 0) throw new Error(`The program has errors:\n${problems.join("\n")}`);
  return figures;
}
