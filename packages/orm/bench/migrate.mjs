// Measures the building of an index, prints the figures, and writes them to
// docs/migrate-benchmarks.md: `npm run bench:migrate`. With `--quick` it takes fewer rows, and
// writes nothing.
import { spawnSync } from "node:child_process";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { migrateFigures, migratePage } from "./migrate-page.mjs";

const page = new URL("../../../docs/migrate-benchmarks.md", import.meta.url);
const worker = fileURLToPath(new URL("migrate-worker.mjs", import.meta.url));
const isQuick = process.argv.includes("--quick");
const sizes = isQuick ? [10_000, 100_000] : [100_000, 1_000_000];
const rounds = isQuick ? 1 : 3;

const folder = await mkdtemp(join(tmpdir(), "keywright-bench-migrate-"));
try {
  const builds = [];
  for (const rows of sizes) {
    const filled = join(folder, `filled-${rows}`);
    run("fill", filled, rows);
    for (let round = 0; round < rounds; round++) {
      // In turns, each in a process of its own: its memory is the measure's.
      builds.push({ rows, by: "hand", ...(await onCopy(filled, "build-by-hand", rows)) });
      builds.push({ rows, by: "keywright", ...(await onCopy(filled, "build", rows)) });
    }
    if (rows === sizes[0]) {
      for (let round = 0; round < rounds; round++) {
        builds.push({ rows, by: "writers", ...(await onCopy(filled, "write", rows)) });
      }
    }
  }
  console.log(migrateFigures(builds));
  if (!isQuick) await writeFile(page, migratePage(builds));
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function onCopy(filled, job, rows) {
  const path = join(folder, "copy");
  await cp(filled, path, { recursive: true });
  try {
    return run(job, path, rows);
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}

/** Runs a job in a process of its own, and returns what it measured. */
function run(job, path, rows) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [worker, job, path, rows], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(`${job} failed:\n${stderr}`);
  return JSON.parse(stdout);
}
