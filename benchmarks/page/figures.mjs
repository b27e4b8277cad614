import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { contenders } from "../contenders/index.mjs";

const byName = new Map(contenders.map((contender) => [contender.name, contender]));

/** The names of contenders in the order in which the tables list them. */
export function inOrder(names) {
  return [...byName.keys()].filter((name) => names.includes(name));
}

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
  return median(ratios(ours, theirs));
}

/** How many times as fast the first is as the second in each round that both have. */
export function ratios(ours, theirs) {
  const both = Math.min(ours.length, theirs.length);
  return ours.slice(0, both).map((time, round) => theirs[round] / time);
}

export function median(numbers) {
  return quantile(numbers, 0.5);
}

/** The number below which a part of the numbers are, such as 0.25. */
export function quantile(numbers, part) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))];
}

/** How far the middle half of the rounds reaches from the median on average, as a part of it. */
export function spread(rounds) {
  return (quantile(rounds, 0.75) - quantile(rounds, 0.25)) / 2 / median(rounds);
}

export function times(value) {
  return `${shortNumber(value)} ×`;
}

/** The range of the middle half of ratios. */
export function timesRange(values) {
  return `${shortNumber(quantile(values, 0.25))} to ${shortNumber(quantile(values, 0.75))} ×`;
}

function shortNumber(value) {
  return value < 10 ? value.toFixed(2) : value.toFixed(0);
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
