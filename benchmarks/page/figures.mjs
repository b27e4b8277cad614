import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { contenders } from "../contenders/index.mjs";

const byName = new Map(contenders.map((contender) => [contender.name, contender]));

/** Returns stored results, or undefined if there are none. */
export function resultsOf(name) {
  const file = fileURLToPath(new URL(`../results/${name}.json`, import.meta.url));
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}

export function contender(name) {
  return byName.get(name);
}

/** The contenders of a kind, with their rounds, fastest first. */
export function ofKind(rounds, kind) {
  return Object.entries(rounds)
    .filter(([name]) => contender(name)?.kind === kind)
    .sort(([, a], [, b]) => median(a) - median(b))
    .map(([name, times]) => ({ name, times }));
}

/** How many times as fast the first is as the second: the median of the ratios of the rounds. */
export function ratio(ours, theirs) {
  return median(ours.map((time, round) => theirs[round] / time));
}

export function median(numbers) {
  return [...numbers].sort((a, b) => a - b)[numbers.length >> 1];
}

export function times(value) {
  return `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ×`;
}

/** Nanoseconds as microseconds or milliseconds, with two or three digits. */
export function duration(nanoseconds) {
  const micros = nanoseconds / 1000;
  if (micros >= 10_000) return `${(micros / 1000).toFixed(0)} ms`;
  if (micros >= 1000) return `${(micros / 1000).toFixed(1)} ms`;
  return `${micros >= 100 ? micros.toFixed(0) : micros.toFixed(1)} µs`;
}

export function table(head, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |\n`;
  return line(head) + line(head.map(() => "---")) + rows.map(line).join("");
}
