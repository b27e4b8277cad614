import { mkdirSync, writeFileSync } from "node:fs";
import { arch, cpus, release, type } from "node:os";
import { fileURLToPath } from "node:url";

const folder = new URL("../results/", import.meta.url);

/**
 * Prints the figures of a long run as one line, and writes them with the day and the machine to
 * `results/<campaign>.json`. `npm run docs:reliability` makes a page of them.
 */
export function writeResults(campaign, figures, line) {
  const results = {
    day: new Date().toISOString().slice(0, 10),
    machine: `${type()} ${release()}, ${arch()}, ${cpus().length} processors`,
    node: process.version,
    line,
    figures,
  };
  mkdirSync(folder, { recursive: true });
  const path = fileURLToPath(new URL(`${campaign}.json`, folder));
  writeFileSync(path, `${JSON.stringify(results, null, 2)}\n`);
  console.log(line);
}
