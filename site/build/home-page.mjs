import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ratio, resultsOf, table } from "../../benchmarks/page/figures.mjs";
import { linksOfSite } from "./links.mjs";
import { root } from "./page-list.mjs";

const built = ["Drizzle on better-sqlite3, query built each time", "drizzle"];
const prepared = ["Drizzle on better-sqlite3, query prepared", "drizzle-prepared"];
const prisma = ["Prisma on SQLite", "prisma"];
const denoKv = ["`@deno/kv`, with index entries written by hand", "deno-kv"];

/** What the home page compares: also where Keywright is slower. */
const rows = [
  ["`findUnique` by id, LevelDB", "byId", "keywright-level", built],
  ["`findUnique` by id, LMDB", "byId", "keywright-lmdb", prepared],
  ["`findUnique` by id, LMDB", "byId", "keywright-lmdb", prisma],
  ["a page of 20 rows, LMDB", "page", "keywright-lmdb", built],
  ["100 rows by index, LevelDB", "byColor", "keywright-level", built],
  ["one `create` after another, on disk", "create, full", "keywright-level", built],
  ["64 calls of `create` at a time, on disk", "createTogether, full", "keywright-level", built],
  ["64 calls of `create` at a time, on disk", "createTogether, full", "keywright-level", denoKv],
];

/** The table of ratios of the home page, from the stored results of the benchmarks. */
function ratioTable() {
  const results = resultsOf("cases-10000");
  const lines = rows.map(([title, figure, ours, [peer, theirs]]) => {
    const rounds = results.figures[figure];
    if (rounds?.[ours] === undefined || rounds[theirs] === undefined)
      throw new Error(`The results of the benchmarks have no ${figure} of ${ours} and ${theirs}.`);
    return [title, peer, inWords(ratio(rounds[ours], rounds[theirs]))];
  });
  const head = ["measured", "compared with", "Keywright"];
  return `${table(head, lines)}\nMeasured on ${results.day} on one machine: ${results.machine}.`;
}

/** Returns a ratio as `12 times as fast` or `takes 2.6 times as long`. */
export function inWords(value) {
  const digits = (number) => (number < 10 ? number.toFixed(1) : number.toFixed(0));
  return value >= 1 ? `${digits(value)} times as fast` : `takes ${digits(1 / value)} times as long`;
}

/** The home page: the program of the README, the ratios, and when to use something else. */
export function homePage(repository) {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const part = (title) => {
    const found = new RegExp(`^## ${title}\\n([\\s\\S]*?)(?=^## )`, "m").exec(readme);
    if (found === null) throw new Error(`README.md has no section "${title}".`);
    return linksOfSite(found[1].trim(), "README.md", repository);
  };
  const introduction = /^# Keywright\n+([\s\S]*?)(?=^## )/m.exec(readme)[1].trim();
  return `# Keywright

${linksOfSite(introduction, "README.md", repository)}

<nav class="actions" aria-label="First steps">

[Playground](./playground.md) [Install](#install) [Models](./models.md) [Compared with others](./compare/index.md) [Scorecard](./scorecard.md)

</nav>

## Thirty lines

${part("Thirty lines")}

## Install

${part("Install")}

## How fast it is

${ratioTable()} [The benchmarks](./benchmarks.md) have all figures,
also those where Keywright is slower, and say how they were measured.

## What you get

${part("What you get")}

## When to use something else

${part("When to use something else")}
`;
}
