import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { arch, cpus, release, type } from "node:os";
import { fileURLToPath } from "node:url";

const folder = new URL("../results/", import.meta.url);

/**
 * Prints the figures of a long run as one line, and writes them with the day and the machine to
 * `results/<campaign>.json`. `npm run docs:reliability` makes a page of them.
 *
 * @param isSummed whether the figures are also added to those of all runs so far.
 */
export function writeResults(campaign, figures, line, isSummed = true) {
  const path = fileURLToPath(new URL(`${campaign}.json`, folder));
  const before = existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
  const results = {
    day: new Date().toISOString().slice(0, 10),
    machine: `${type()} ${release()}, ${arch()}, ${cpus().length} processors`,
    node: process.version,
    line,
    figures,
    ...(isSummed && { total: sumOf(before?.total ?? before?.figures, figures) }),
  };
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, `${JSON.stringify(results, null, 2)}\n`);
  console.log(line);
}

/** Adds figures by their names. A figure that only one run has is taken over. */
function sumOf(before, figures) {
  if (typeof before === "number" && typeof figures === "number") return before + figures;
  if (typeof before !== "object" || typeof figures !== "object") return figures ?? before;
  const names = new Set([...Object.keys(before), ...Object.keys(figures)]);
  return Object.fromEntries([...names].map((name) => [name, sumOf(before[name], figures[name])]));
}
