// What was measured, as the Markdown of docs/benchmarks.md.
import { readFileSync } from "node:fs";
import { cpus, release, totalmem, type } from "node:os";

const peers = ["classic-level", "@deno/kv", "ordered-binary", "fdb-tuple", "mitata"];

/** The page: what was measured, how, and on what. */
export function benchmarkPage(ratios, sizes) {
  return `# Benchmarks

\`npm run bench:core\` measures the core engine and writes this page. What counts are the ratios, taken in one run: the
times are those of one machine.

${benchmarkTables(ratios, sizes)}
## What is measured

- A row has four fields and takes about 100 bytes as an encoded value. With its two index entries it has three keys;
  their ids are random, so that neighbouring reads and writes lie far apart. The databases of the first table hold
  10,000 rows.
- Each operation and what it is compared with run in turns; the figure is the median of the
  rounds, each of which is a mean over all of its calls.
- "Raw" is classic-level alone, on the very bytes that Keywright stores, with keys that are encoded beforehand. It
  decodes what it reads with \`decodeValue\` (and \`decodeKey\` for \`list\`), but verifies no checksum and checks nothing
  before it writes.
- A commit creates a row as the guide to secondary indexes does: it checks that neither the row nor its unique index
  entry is there, and sets both and one more index entry. An update checks that both are as they were, which is dearer:
  keys that are there have to be read. 64 commits are in flight. The raw batch puts the three keys of a new row, 64
  batches in flight, without fsync.
- \`@deno/kv\` stores in SQLite with a write-ahead log and \`synchronous=FULL\`, its own defaults: it syncs the log once for
  each commit, also where 64 are in flight (seen with \`strace\`: 1,405 calls of \`fsync\` for 1,380 commits). Keywright
  syncs once for each group of commits. Both acknowledge a commit only when it is on disk.
- \`get\` is awaited before the next one begins, in both. \`@deno/kv\` answers it from another thread: with many in flight
  it takes about half of the time for each.
- \`list\` reads 1,000 entries from a random row on; Keywright in batches of 500, its largest, raw in one call.
- The second table is of databases with so many keys in a process of its own each. Both have LevelDB's block cache at
  classic-level's default, 8 MB, and files that were compacted after loading; keys are random over all of the database.
  Memory is what the process has gained, from before it opened the database until all was measured.

## Measured with

${machine()}
`;
}

/** The two tables, which stand in the page and are printed. */
export function benchmarkTables(ratios, sizes) {
  return `${table(
    ["operation", "against", "times as fast", "goal", "", "ours", "theirs"],
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
${table(
  ["keys", "`get`", "commit, `relaxed`", "`list`, per entry", "memory gained"],
  sizes.map(({ keys, get, commit, list, memory }) => [
    keys.toLocaleString("en"),
    microseconds(get),
    microseconds(commit),
    microseconds(list),
    megabytes(memory),
  ]),
)}
${flatVerdict(sizes)}
`;
}

function flatVerdict(sizes) {
  const few = sizes[0];
  const many = sizes.at(-1);
  const growth = Math.max(...["get", "commit", "list"].map((name) => many[name] / few[name]));
  return `With a hundred times the keys an operation takes ${times(growth)} the time at the most; the goal is 2 ×: ${verdict(growth <= 2)}.`;
}

function machine() {
  const [cpu] = cpus();
  const versions = peers.map((name) => `${name} ${installedVersion(name)}`).join(", ");
  return `${cpu.model}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB of memory; ${type()} ${release()}; Node.js ${process.versions.node};
${versions}.`;
}

/** The version of a package as npm installed it. */
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

function megabytes(bytes) {
  return `${(bytes / 2 ** 20).toFixed(0)} MB`;
}
