// Writes docs/benchmarks.md and its plots from the stored results.
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { cases } from "../cases.mjs";
import { besidePeers } from "./beside-peers.mjs";
import {
  contender,
  duration,
  inOrder,
  median,
  ofKind,
  quantile,
  ratio,
  resultsOf,
  spread,
  table,
  times,
  timesRange,
} from "./figures.mjs";
import { growth, reachedGoals } from "./goals.mjs";
import { plots } from "./plot.mjs";

const page = fileURLToPath(new URL("../../docs/benchmarks.md", import.meta.url));
const plotFolder = fileURLToPath(new URL("../../docs/plots/", import.meta.url));
const durabilities = { full: "full", relaxed: "relaxed", none: "memory" };

export function writePage() {
  const text = benchmarkPage();
  writeFileSync(page, text.page);
  mkdirSync(plotFolder, { recursive: true });
  for (const [name, svg] of Object.entries(text.plots))
    writeFileSync(`${plotFolder}${name}.svg`, svg);
}

/** The page and its plots by name. */
function benchmarkPage() {
  const { figures = {}, ...machine } = resultsOf("cases-10000") ?? {};
  const drawn = {};
  const theme = (name, title, chosen) => {
    const svgs = plots(
      title,
      chosen.map((each) => lineOf(each, figures)),
    );
    for (const [mode, svg] of Object.entries(svgs)) drawn[`${name}-${mode}`] = svg;
    return `<picture>
  <source media="(prefers-color-scheme: dark)" srcset="plots/${name}-dark.svg">
  <img alt="${title}" src="plots/${name}-light.svg">
</picture>
`;
  };
  const present = (list) => list.filter(({ figure }) => figures[figure] !== undefined);
  const reads = present(
    cases.filter(({ isWrite }) => !isWrite).map((each) => ({ ...each, figure: each.name })),
  );
  const writes = (durability) =>
    present(
      cases
        .filter(({ isWrite }) => isWrite)
        .map((each) => ({ ...each, figure: `${each.name}, ${durability}` })),
    );
  const section = (name, title, chosen) =>
    chosen.length === 0
      ? ""
      : `## ${title}

${theme(name, title, chosen)}
${summary(chosen, figures)}
How many times as fast Keywright's best engine is as each of the others:

${besidePeers(chosen, figures)}
${allTimes(chosen, figures)}`;
  const text = `# Benchmarks

How fast is Keywright, compared with other ways to store the same rows?

Compare the ratios: each was taken in one run, in which all contenders took turns. A ratio of 2 × means that Keywright takes half
the time of the other. The times are those of one machine.

## Goals

${goalTable()}
${growthSection()}
Keywright is not first in every row. A read by id is faster than with every library on SQLite, and so are many writes at a
time. Lists are about as fast as with Drizzle if a statement is built in each call, and slower than prepared statements.
\`lmdb\` by hand is faster in every read. One write after another that survives a power cut, conditions on related rows, and
an update of many rows are faster on SQLite. Why goals are missed:

- **A read of a range on LevelDB is made in another thread.** A trip there and back takes 50 to 65 µs on a quiet machine, and
  the addon takes two buffers per entry, so \`nextv\` of 100 entries alone takes as long as the whole query of SQLite, which
  reads in the calling thread. A delete takes such a trip to find out whether rows refer to the row.
- **100 rows by index on LMDB.** There is no trip. Of the time, the addon and LMDB take 30 %, the checksums 12 %, decoding 18 %,
  and copies of keys 6 %. The rest is divided among the many steps of a query. SQLite does all of this in C.
- **Conditions on related rows** read an entry for each candidate. SQLite compares two indexes in C.
- **A get on LMDB** is planned, awaited and checked, which takes longer than the read itself.
- **createMany** reads each key and each unique key before it writes, because a row that exists must be refused by name.
- **An update of many rows** reads, validates and writes each row in JavaScript, and the commit reads its versionstamp
  again. SQLite changes all rows by one statement.
- **Keywright checks more.** It validates what it writes, verifies a checksum of everything that it reads, checks in each
  commit that the schema is still the same, and returns the written row. \`lmdb\` by hand does none of this.
- **With a million users, reads take longer**, because the caches of the processor and of the engine hold less of it. The
  stores alone slow down by as much.
- **Totals** are one read for each group, however many rows it has. With 10,000 orders, SQLite has four rows in each group.
  With 1,000,000 it has 400, and takes ${totalsRatio()} as long as Keywright.

${section("reads", "Reads", reads)}
${section("writes-full", "Writes that survive a power cut", writes("full"))}
${section("writes-relaxed", "Writes that survive a killed process", writes("relaxed"))}
${section("writes-memory", "Writes in memory", writes("none"))}
${largeSection()}
${jobSection()}
${footprintSection()}
${method(machine, figures)}`;
  return { page: text.replace(/\n{3,}/g, "\n\n"), plots: drawn };
}

function goalTable() {
  const rows = reachedGoals().map(({ title, other, least, reached, rounds }) => [
    title,
    contender(other).title,
    times(least),
    times(reached),
    timesRange(rounds),
    reached >= least ? "met" : "missed",
  ]);
  return table(
    [
      "operation of Keywright",
      "compared with",
      "goal, at least",
      "reached",
      "in half of the rounds",
      "goal is",
    ],
    rows,
  );
}

/** With 1,000,000 orders, on the best engine against a prepared statement. */
function totalsRatio() {
  const rounds = resultsOf("cases-1000000")?.figures.totals ?? {};
  const { "keywright-lmdb": ours, "drizzle-prepared": theirs } = rounds;
  return ours === undefined ? "many times" : `${ratio(ours, theirs).toFixed(1)} times`;
}

const grown = [
  "keywright-level",
  "raw-level",
  "keywright-lmdb",
  "lmdb-by-hand",
  "keywright-sqlite",
  "drizzle-prepared",
];

/** How many times as long operations take with a hundred times as many rows. */
function growthSection() {
  const head = ["", ...grown.map((name) => contender(name).title)];
  const rows = growth().map(({ figure, factors }) => {
    const cells = grown.map((name) => (factors[name] === undefined ? "" : times(factors[name])));
    return [titleOf(figure), ...cells];
  });
  if (rows.length === 0) return "";
  return `How many times as long an operation takes with 1,000,000 users as with 10,000. The goal is at most 1.6 × for a get and
1.5 × for a list, or no worse than the store alone:

${table(head, rows)}
`;
}

/** For each case the best engine of Keywright, the best other, and the store alone. */
function summary(chosen, figures) {
  const rows = chosen.map(({ title, figure }) => {
    const rounds = figures[figure];
    const [ours] = ofKind(rounds, "keywright");
    const [peer] = ofKind(rounds, "peer");
    const [limit] = ofKind(rounds, "limit");
    const compared = (other) =>
      other === undefined || ours === undefined ? "" : times(ratio(ours.times, other.times));
    return [
      title,
      ours === undefined ? "" : `${engineOf(ours.name)}, ${duration(median(ours.times))}`,
      peer === undefined ? "" : `${contender(peer.name).title}, ${duration(median(peer.times))}`,
      compared(peer),
      compared(limit),
    ];
  });
  return table(
    [
      "",
      "Keywright's best engine",
      "best other",
      "times as fast as the best other",
      "as the store alone",
    ],
    rows,
  );
}

/** The time of each contender in each case, with the spread of its rounds. */
function allTimes(chosen, figures) {
  const names = inOrder(chosen.flatMap(({ figure }) => Object.keys(figures[figure])));
  const head = ["", ...chosen.map(({ title }) => title)];
  const rows = names.map((name) => [
    contender(name).title,
    ...chosen.map(({ figure }) => {
      const found = figures[figure][name];
      return found === undefined ? "" : `${duration(median(found))} ± ${percent(spread(found))}`;
    }),
  ]);
  return `<details>
<summary>All times</summary>

${table(head, rows)}
</details>
`;
}

function largeSection() {
  return [100_000, 1_000_000, 10_000_000].map(largeTable).join("\n");
}

function largeTable(size) {
  const large = resultsOf(`cases-${size}`);
  if (large === undefined) return "";
  const names = inOrder(Object.values(large.figures).flatMap((rounds) => Object.keys(rounds)));
  const rows = Object.entries(large.figures).map(([figure, rounds]) => [
    titleOf(figure),
    ...names.map((name) => (rounds[name] === undefined ? "" : duration(median(rounds[name])))),
  ]);
  const processes =
    large.processes === "own" ? "a process for each contender" : "all in one process";
  const rounds = Math.min(
    ...Object.values(large.figures).flatMap((of) => Object.values(of).map(({ length }) => length)),
  );
  const often = rounds === 1 ? "once" : `in ${rounds} rounds`;
  return `## With ${size.toLocaleString("en")} users

Measured on ${large.day} ${often}, ${processes}:

${table(["", ...names.map((name) => contender(name).title)], rows)}${size === 10_000_000 ? justFilled : ""}`;
}

const justFilled = `
Both databases had just been filled, and much is read from the disk for the first time. In the first rounds a read takes up to
ten times as long as in the last. These times show the order of magnitude and no more.
`;

function jobSection() {
  const sizes = [10_000, 100_000, 1_000_000, 10_000_000].filter((size) =>
    resultsOf(`jobs-${size}`),
  );
  if (sizes.length === 0) return "";
  const sections = sizes.map((size) => {
    const { figures } = resultsOf(`jobs-${size}`);
    const rows = inOrder(Object.keys(figures.fill)).map((name) => {
      const { open, cold, backfill } = figures;
      return [
        contender(name).title,
        `${count(figures.fill[name].rowsPerSecond)} rows/s`,
        `${figures.fill[name].bytesPerRow.toFixed(0)} B`,
        `${figures.fill[name].peakMiB.toFixed(0)} MiB`,
        open?.[name] === undefined ? "" : `${open[name].milliseconds.toFixed(0)} ms`,
        cold?.[name] === undefined
          ? ""
          : `${cold[name].p50.toFixed(0)} µs (${cold[name].p99.toFixed(0)} µs)`,
        backfill?.[name] === undefined
          ? ""
          : `${count(backfill[name].rowsPerSecond)} rows/s, ${backfill[name].peakMiB.toFixed(0)} MiB`,
      ];
    });
    return `${size.toLocaleString("en")} users:

${table(["", "filling", "on disk, per row", "peak memory", "opening and one read", "cold read (99th percentile)", "adding an index"], rows)}`;
  });
  return `## Large databases

${sections.join("\n")}
Each figure is of a process of its own. A cold read is one of a user that is neither in the memory of the process nor in the
cache of the system. Adding an index to Keywright is \`migrate\`, which counts and verifies all rows, can be resumed, and runs
beside writers.
`;
}

function footprintSection() {
  const figures = resultsOf("footprint")?.figures;
  if (figures === undefined) return "";
  const kib = (bytes) => (bytes === undefined ? "" : `${(bytes / 1024).toFixed(0)} KiB`);
  const rows = inOrder(Object.keys(figures)).map((name) => [
    contender(name).title,
    `${figures[name].milliseconds.toFixed(0)} ms`,
    kib(figures[name].bytes),
    kib(figures[name].gzipBytes),
  ]);
  return `## Start and bundle

${table(["", "start", "minified bundle", "with gzip"], rows)}
A start is a program that opens a new database, stores a row, reads it and ends, without the time of an empty program. A
bundle is made with esbuild and holds what a program with two tables imports, without native addons. That of Keywright
includes Zod. What types cost the compiler is measured in [type-cost.md](type-cost.md).
`;
}

function method({ day, machine, versions = {}, processes }, figures) {
  const list = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return `## What is measured

\`npm run bench\` takes these measurements and writes this page. \`npm run bench:quick\` takes one or two minutes, and prints
which ratios differ from those of this page.

- **Rows.** The databases hold 10,000 users with six fields and about 150 bytes each, and ten posts of each of the first
  1,000 users. There is a unique index on the email and an index on the favorite color, which 100 users share. Users are
  read and changed in random order. There are as many orders as users, and a shop with 500 customers, about 4,800 purchases
  and 20 labels.
${processes === "own" ? ownProcesses : sharedProcess}
- **Figures.** A time is the mean of all calls of a round, and the tables show the median of the rounds. A ratio is the
  median of the ratios of the rounds. Before a case is measured, every contender has returned the right rows.
- **Noise.** Rounds differ, because the machine does other things too. A time with ± 5 % is one whose middle half of rounds
  spans 10 % of it. ${noise(figures)}
- **Durability.** Writes are compared only with writes that survive the same: a power cut (\`full\`), a killed process
  (\`relaxed\`), or nothing (in memory). SQLite has a write-ahead log, with \`synchronous\` \`FULL\` or \`NORMAL\`.
- **The others** are written as their own documentation recommends. A statement of Drizzle is built in each call, or it is
  prepared once with placeholders. Prisma uses its adapter for better-sqlite3. \`@deno/kv\` and \`lmdb\` have index entries that
  the program writes itself, with the checks of Deno KV's guide. They validate nothing. Keywright validates what it writes
  with Zod, checks that no program with another schema writes, and returns the written row.
- **The store alone** writes and reads bytes without any check. It decodes what it reads with the codec of Keywright.
- **kvdex** is not measured: it is published only on JSR, and this benchmark installs packages from npm.

## Measured with

${machine ?? ""}; ${day ?? ""};
${list.join(", ")}.
`;
}

const ownProcesses = `- **Processes.** Each contender has a process of its own, as in a program that uses only this one. They take turns in each
  round: one works while all others are idle.`;

const sharedProcess = `- **Processes.** All contenders took turns in one process. Engines of Keywright share code, which V8 then compiles for all
  of them, so this run shows Keywright slower than it is in a program with one engine.`;

/** A sentence about the spread of all times. */
function noise(figures) {
  const spreads = Object.values(figures).flatMap((rounds) => Object.values(rounds).map(spread));
  if (spreads.length === 0) return "";
  const [middle, most] = [0.5, 0.9].map((part) => percent(quantile(spreads, part)));
  return `Half of all times have at most ± ${middle}, and nine of ten at most ± ${most}.`;
}

function percent(part) {
  return `${(part * 100).toFixed(0)} %`;
}

function lineOf({ title, figure }, figures) {
  const points = Object.entries(figures[figure]).map(([name, rounds]) => ({
    contender: contender(name).title,
    kind: contender(name).kind,
    nanoseconds: median(rounds),
  }));
  return { title, points };
}

function titleOf(figure) {
  const [name, durability] = figure.split(", ");
  const { title } = cases.find((each) => each.name === name);
  return durability === undefined ? title : `${title}, ${durabilities[durability]}`;
}

function engineOf(name) {
  return contender(name).title.replace("Keywright, ", "");
}

function count(value) {
  return Number(value.toPrecision(2)).toLocaleString("en");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writePage();
