import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("job.mjs", import.meta.url));
/** Contenders on disk, one for each way of storing rows. */
const stored = [
  ...["keywright-level", "keywright-lmdb", "keywright-sqlite"],
  ...["deno-kv", "lmdb-by-hand", "drizzle-prepared"],
];
const withBackfill = ["keywright-level", "keywright-lmdb", "keywright-sqlite", "drizzle-prepared"];
/** `@deno/kv` takes hours to store a million users. */
const mostRows = { "deno-kv": 100_000 };

/**
 * Runs jobs on databases of `size` users, each in a process of its own: filling a database, its
 * bytes on disk, the peak memory, opening it, reads that are not in the system's cache, and adding
 * an index.
 *
 * @returns the figures of each job by the name of the contender.
 */
export async function measureJobs(size, names, note) {
  const figures = {};
  for (const contender of stored) {
    if (size > (mostRows[contender] ?? Number.POSITIVE_INFINITY)) continue;
    const folder = await mkdtemp(join(tmpdir(), "keywright-bench-"));
    try {
      const jobs = ["fill", "open", "cold", "backfill"].filter(
        (job) => job !== "backfill" || withBackfill.includes(contender),
      );
      for (const job of jobs) {
        // All other jobs need the database.
        if (job !== "fill" && names !== undefined && !names.includes(job)) continue;
        note(`${job}, ${contender}, ${size} users`);
        figures[job] ??= {};
        figures[job][contender] = run(job, contender, folder, size);
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  return figures;
}

function run(job, contender, folder, size) {
  const args = [program, job, contender, folder, String(size)];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`The job ${job} of ${contender} failed:\n${stderr}`);
  return JSON.parse(stdout.trim().split("\n").at(-1));
}
