// Measures the ORM, prints the table, and writes it to docs/orm-benchmarks.md: `npm run bench:orm`.
// With `--quick` it measures for a shorter time, and writes nothing.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { benchmarkPage, benchmarkTables } from "./benchmark-page.mjs";
import { measureRatios } from "./ratios.mjs";

const page = new URL("../../../docs/orm-benchmarks.md", import.meta.url);
const isQuick = process.argv.includes("--quick");
const effort = isQuick ? { rounds: 3, milliseconds: 50 } : { rounds: 25, milliseconds: 150 };

const folder = await mkdtemp(join(tmpdir(), "keywright-orm-bench-"));
try {
  const measured = await measureRatios(folder, effort);
  console.log(benchmarkTables(measured));
  if (!isQuick) await writeFile(page, benchmarkPage(measured));
} finally {
  await rm(folder, { recursive: true, force: true });
}
