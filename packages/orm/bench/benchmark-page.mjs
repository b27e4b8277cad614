// What was measured, as the Markdown of docs/orm-benchmarks.md.
import { readFileSync } from "node:fs";
import { cpus, release, totalmem, type } from "node:os";

const peers = ["drizzle-orm", "better-sqlite3", "@deno/kv", "classic-level", "zod", "mitata"];

/** The page: what was measured, how, and on what. */
export function benchmarkPage(measured) {
  return `# Benchmarks of the ORM

\`npm run bench:orm\` measures the ORM and writes this page. What counts are the ratios, taken in one run: the times are
those of one machine.

${benchmarkTables(measured)}
## What is measured

- The databases hold 10,000 users at first, of six fields and about 150 bytes each, with a unique index on the email and
  another index on the favorite color, which 100 of them share. Users are read and updated in an order that is random.
- Each operation and what it is compared with run in turns. A ratio is the median of the rounds, and its spread is
  between what the middle half of them lies; a time is the median of the rounds, each of which is a mean over all of its
  calls.
- drizzle-orm runs on better-sqlite3 with a write-ahead log and \`synchronous=NORMAL\`. What it has acknowledged survives a
  killed process and not a power cut, as with \`durability: "relaxed"\`. Its calls are synchronous and nothing is awaited.
  It validates nothing and returns no row from \`create\` and \`update\`; Keywright validates what it writes with Zod.
- A statement is built each time, as in \`db.select().from(users).where(eq(users.id, id)).get()\`, or prepared once with
  placeholders.
- By hand means: what the guide to secondary indexes does, with the same keys and values, the same checks on the row and
  on its unique entry, and each pointer followed to a row that is compared with what was looked for. It validates nothing
  and checks no schema epoch.
- \`@deno/kv\` stores in SQLite with a write-ahead log and \`synchronous=FULL\`, its own defaults; like Keywright with
  \`durability: "full"\` it acknowledges a commit only when it is on disk.

## Measured with

${machine()}
`;
}

/** The table and what goes with it, which stand in the page and are printed. */
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
  return `${table(["operation", "against", "times as fast", "spread", "goal", "", "ours", "theirs"], rows)}
${validationLine(ratios, validation)}

A commit is written by a thread of Node's pool. The way there and back alone took ${microseconds(thread)} here (\`crypto.randomBytes\`
with a callback), once for each \`update\` and \`create\` of ours; 64 in flight share it. better-sqlite3 stays in its thread.
`;
}

function validationLine(ratios, validation) {
  const { ours } = ratios.find(({ operation }) => operation === "`findUnique` by id");
  const share = ((validation / ours) * 100).toFixed(0);
  return `Validating one of the rows with Zod (\`safeParse\`) takes ${microseconds(validation)}: ${share} % of a \`findUnique\` by id.`;
}

/** The machine and the versions of some packages. */
export function machine(packages = peers) {
  const [cpu] = cpus();
  const versions = packages.map((name) => `${name} ${installedVersion(name)}`).join(", ");
  return `${cpu.model}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB of memory; ${type()} ${release()}; Node.js ${process.versions.node};
${versions}.`;
}

/** The version of a package as npm installed it. */
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
