// Writes what was measured as the Markdown of docs/benchmarks.md.
import { readFileSync } from "node:fs";
import { cpus, release, totalmem, type } from "node:os";

const peers = ["classic-level", "@deno/kv", "ordered-binary", "fdb-tuple", "mitata"];

/** Returns the page: the tables, how they were measured, and on which machine. */
export function benchmarkPage(ratios, sizes) {
  return `# Benchmarks of the database

How fast is \`@keywright/core\`, compared with LevelDB alone, with Deno KV, and with other encodings of keys?

Compare the ratios, which were taken in one run. The times are those of one machine. A ratio of 2 × means that Keywright
takes half the time of the other: a larger ratio is better. If the other does less work, as LevelDB alone does, the goal
is below 1 ×.

${benchmarkTables(ratios, sizes)}
## What is measured

\`npm run bench:core\` takes these measurements and writes this page.

- **Rows.** A row has four fields and takes about 100 bytes as an encoded value. With its two index entries it takes
  three keys. Ids are random, so rows that are used one after another are far apart in the database. The databases of
  the first table hold 10,000 rows.
- **Times.** Keywright and the other take turns. A time is the mean of all calls of a round, and the table shows the
  median of the rounds. A ratio is the quotient of the two times before they are rounded.
- **LevelDB** is \`classic-level\` alone, with the same bytes that Keywright stores, and with keys that are encoded before
  the measurement. It decodes what it reads with \`decodeValue\` (and \`decodeKey\` for \`list\`), but verifies no checksum,
  and checks nothing before it writes.
- **Commits.** A commit that creates a row does what Deno KV's guide to secondary indexes does: it checks that neither
  the row nor its unique index entry exists, and sets the row and two index entries. A commit that updates a row checks
  that the row and its unique index entry are unchanged. This costs more, because keys that exist have to be read. 64
  commits are in flight at any time. A batch of LevelDB puts the three keys of a new row, with 64 batches in flight.
- **Durability.** With \`full\`, Keywright acknowledges a commit when it is on disk. With \`relaxed\`, it does not wait for
  fsync, and neither does the batch of LevelDB.
- **\`@deno/kv\`** stores in SQLite with a write-ahead log and \`synchronous=FULL\`, which are its defaults. It acknowledges
  a commit when it is on disk, and syncs once per commit, even with 64 in flight: \`strace\` counted 1,405 calls of
  \`fsync\` for 1,380 commits. Keywright syncs once for a group of commits.
- **\`get\`** is awaited before the next one begins. \`@deno/kv\` answers from another thread. With many calls in flight it
  takes about half the time per call.
- **\`list\`** reads 1,000 entries, starting at a random row. Keywright reads them in batches of 500, which is its
  maximum, and LevelDB in one call.
- **The second table** has one database for each number of keys, measured in its own process, with durability \`relaxed\`.
  LevelDB's block cache has the default size of \`classic-level\`, 8 MiB. Files were compacted after loading. Keys are
  random over the whole database. Memory gained is the growth of the process's resident memory, from before the
  database was opened until the end of the measurement.

## Measured with

${machine()}
`;
}

/** Returns the two tables, which are part of the page and are also printed. */
export function benchmarkTables(ratios, sizes) {
  return `${table(
    [
      "operation of Keywright",
      "compared with",
      "times as fast",
      "goal, at least",
      "goal is",
      "time of Keywright",
      "time of the other",
    ],
    ratios.map(({ operation, against, ours, theirs, goal }) => {
      const ratio = theirs / ours;
      return [
        operation,
        against,
        times(ratio),
        times(goal),
        verdict(ratio >= goal),
        microseconds(ours),
        microseconds(theirs),
      ];
    }),
  )}
Does an operation take longer in a larger database?

${table(
  [
    "keys in the database",
    "`get`",
    "commit that creates a row",
    "`list`, per entry",
    "memory gained",
  ],
  sizes.map(({ keys, get, commit, list, memory }) => [
    keys.toLocaleString("en"),
    microseconds(get),
    microseconds(commit),
    microseconds(list),
    mebibytes(memory),
  ]),
)}
${flatVerdict(sizes)}
`;
}

function flatVerdict(sizes) {
  const few = sizes[0];
  const many = sizes.at(-1);
  const growth = Math.max(...["get", "commit", "list"].map((name) => many[name] / few[name]));
  return `With 100 times the keys, an operation takes at most ${times(growth)} the time. The goal is at most 2 ×: ${verdict(growth <= 2)}.`;
}

function machine() {
  const [cpu] = cpus();
  const versions = peers.map((name) => `${name} ${installedVersion(name)}`).join(", ");
  return `${cpu.model}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB of memory; ${type()} ${release()}; Node.js ${process.versions.node};
${versions}.`;
}

/** Returns the version of a package that npm has installed. */
function installedVersion(name) {
  for (const folder of ["../node_modules/", "../../../node_modules/"]) {
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
  return `${ratio < 10 ? ratio.toFixed(2) : ratio.toFixed(0)} ×`;
}

function microseconds(nanoseconds) {
  return `${(nanoseconds / 1000).toFixed(2)} µs`;
}

function mebibytes(bytes) {
  return `${(bytes / 2 ** 20).toFixed(0)} MiB`;
}
