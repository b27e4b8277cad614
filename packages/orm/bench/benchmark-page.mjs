// Writes what was measured as the Markdown of docs/orm-benchmarks.md.
import { readFileSync } from "node:fs";
import { cpus, release, totalmem, type } from "node:os";

const peers = ["drizzle-orm", "better-sqlite3", "@deno/kv", "classic-level", "zod", "mitata"];

/** Returns the page: the table, how it was measured, and on which machine. */
export function benchmarkPage(measured) {
  return `# Benchmarks of the ORM

How fast is \`@keywright/orm\`, compared with Drizzle on SQLite, with Deno KV, and with the same work written by hand?

Compare the ratios, which were taken in one run. The times are those of one machine. A ratio of 2 × means that Keywright
takes half the time of the other: a larger ratio is better, and below 1 × Keywright is slower.

${benchmarkTables(measured)}
## What is measured

\`npm run bench:orm\` takes these measurements and writes this page.

- **Rows.** The databases hold 10,000 users at first, with six fields and about 150 bytes each. There is a unique index
  on the email and an index on the favorite color, which 100 users share. Users are read and updated in random order.
- **Figures.** Keywright and the others take turns. A time is the mean of all calls of a round, and the table shows the
  median of the rounds. A ratio is taken in each round: the table shows the median, and the range of the middle half of
  the rounds. One call of \`findMany\` reads 100 rows. The other operations concern one row.
- **Durability.** \`relaxed\` and \`full\` are the options of Keywright, which the work by hand on \`@keywright/core\` has
  too. With \`full\`, a commit is acknowledged when it is on disk. With \`relaxed\`, it survives a killed process, but not
  a power cut.
- **Drizzle** is \`drizzle-orm\` on \`better-sqlite3\`, with a write-ahead log and \`synchronous=NORMAL\`. It survives the
  same as \`relaxed\`. Its calls are synchronous, and nothing is awaited. It validates nothing and returns no row from
  \`create\` and \`update\`. Keywright returns the row, and validates what it writes with Zod. A statement is built each
  time, as in \`db.select().from(users).where(eq(users.id, id)).get()\`, or it is prepared once with placeholders.
- **By hand** is what Deno KV's guide to secondary indexes does, with the same keys and values, and the same checks on
  the row and on its unique index entry. It follows each pointer, and compares the row that it finds with the value that
  was asked for. It validates nothing, and does not check that other programs use the same schema.
- **\`@deno/kv\`** stores in SQLite with a write-ahead log and \`synchronous=FULL\`, which are its defaults. Like Keywright
  with \`full\`, it acknowledges a commit when it is on disk.

## Measured with

${machine()}
`;
}

/** Returns the table with its remarks, which are part of the page and are also printed. */
export function benchmarkTables({ ratios, validation, thread }) {
  const rows = ratios.map(({ operation, against, ratio, low, high, goal, ours, theirs }) => [
    operation,
    against,
    times(ratio),
    `${figure(low)}–${figure(high)}`,
    goal === undefined ? "" : times(goal),
    goal === undefined ? "" : verdict(ratio >= goal),
    microseconds(ours),
    microseconds(theirs),
  ]);
  const head = [
    "operation of Keywright",
    "compared with",
    "times as fast",
    "middle half",
    "goal, at least",
    "goal is",
    "time of Keywright",
    "time of the other",
  ];
  return `${table(head, rows)}
${validationLine(ratios, validation)}

A thread of Node's pool writes each commit. The round trip to such a thread alone took ${microseconds(thread)} here, measured with
\`crypto.randomBytes\` and a callback. Each \`update\` and \`create\` of Keywright waits for one, and up to 64 in flight
share one. \`better-sqlite3\` needs none, because it writes in the calling thread.
`;
}

function validationLine(ratios, validation) {
  const { ours } = ratios.find(({ operation }) => operation === "`findUnique` by id");
  const share = ((validation / ours) * 100).toFixed(0);
  return `Keywright validates rows when it writes them. With \`validateReads\`, it would also validate each row that it reads. Zod's
\`safeParse\` of one row takes ${microseconds(validation)}: ${share} % of a \`findUnique\` by id.`;
}

/** Describes the machine and the versions of some packages. */
export function machine(packages = peers) {
  const [cpu] = cpus();
  const versions = packages.map((name) => `${name} ${installedVersion(name)}`).join(", ");
  return `${cpu.model}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB of memory; ${type()} ${release()}; Node.js ${process.versions.node};
${versions}.`;
}

/** Returns the version of a package that npm has installed. */
function installedVersion(name) {
  for (const folder of ["node_modules/", "../node_modules/", "../../../node_modules/"]) {
    try {
      const file = new URL(`${folder}${name}/package.json`, import.meta.url);
      return JSON.parse(readFileSync(file, "utf8")).version;
    } catch {}
  }
  return "unknown";
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |\n`;
  return line(head) + line(head.map(() => "---")) + rows.map(line).join("");
}

function verdict(isMet) {
  return isMet ? "met" : "missed";
}

function times(ratio) {
  return `${figure(ratio)} ×`;
}

function figure(ratio) {
  return ratio < 10 ? ratio.toFixed(2) : ratio.toFixed(0);
}

function microseconds(nanoseconds) {
  return `${(nanoseconds / 1000).toFixed(2)} µs`;
}
