// `npm run bench:core`: measures the database, prints the tables, and writes docs/benchmarks.md.
// With `--quick` it measures for a shorter time and only prints.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { benchmarkPage, benchmarkTables } from "./benchmark-page.mjs";
import { measureFlatCost } from "./flat-cost.mjs";
import { measureRatios } from "./ratios.mjs";

const page = new URL("../../../docs/benchmarks.md", import.meta.url);
const isQuick = process.argv.includes("--quick");
const effort = isQuick ? { rounds: 3, milliseconds: 100 } : { rounds: 9, milliseconds: 400 };

const folder = await mkdtemp(join(tmpdir(), "keywright-bench-"));
try {
  const ratios = await measureRatios(folder, effort);
  const sizes = await measureFlatCost(folder, effort, [10_000, 1_000_000]);
  console.log(benchmarkTables(ratios, sizes));
  if (!isQuick) await writeFile(page, benchmarkPage(ratios, sizes));
} finally {
  await rm(folder, { recursive: true, force: true });
}
