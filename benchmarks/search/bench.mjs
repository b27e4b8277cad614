// Compares Keywright's full-text search with SQLite FTS5, MiniSearch, Orama and PostgreSQL, and
// prints the tables of docs/search.md.
//
// `npm run bench:search -- --documents 10000,100000 --contenders keywright,fts5 --postgres URL`
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { machine } from "../page/machine.mjs";
import { documents } from "./corpus.mjs";
import { comparedQueries } from "./queries.mjs";

const { values } = parseArgs({
  options: {
    documents: { type: "string", default: "10000,100000" },
    contenders: { type: "string", default: "keywright,fts5,minisearch,orama,postgres" },
    postgres: { type: "string" },
  },
});
const program = fileURLToPath(new URL("measure.mjs", import.meta.url));
const contenders = values.contenders
  .split(",")
  .filter((name) => name !== "postgres" || values.postgres !== undefined);

const { day, machine: computer } = machine();
console.log(`${day}, ${computer}\n`);
for (const count of values.documents.split(",").map(Number)) {
  const measured = contenders.map((name) => {
    const args = [program, name, String(count), ...(values.postgres ? [values.postgres] : [])];
    const text = execFileSync(process.execPath, ["--max-old-space-size=4096", ...args], {
      maxBuffer: 1e8,
      stdio: ["ignore", "pipe", "inherit"],
    });
    console.error(`${name} has ended with ${count} documents.`);
    return { name, ...JSON.parse(text) };
  });
  console.log(`${count.toLocaleString("en")} documents\n`);
  printTable(measured);
  printRelevance(measured, count);
}

function printTable(measured) {
  const kinds = Object.keys(measured[0].searches);
  const rows = [
    ["", ...measured.map(({ title }) => title)],
    measured.map(() => "---").toSpliced(0, 0, "---"),
    ["load, s", ...measured.map(({ load }) => (load.milliseconds / 1000).toFixed(1))],
    [
      "bytes of the index",
      ...measured.map(({ bytes, plain }) => (bytes - (plain?.bytes ?? 0)).toLocaleString("en")),
    ],
    ...kinds.map((kind) => [
      `${kind}, ms`,
      ...measured.map(({ searches }) => searches[kind]?.milliseconds.toFixed(2) ?? "–"),
    ]),
    ["add 200 words, ms", ...measured.map(({ create }) => create.milliseconds.toFixed(2))],
    [
      "the same without an index, ms",
      ...measured.map(({ plain }) => plain?.create.milliseconds.toFixed(2) ?? "–"),
    ],
  ];
  for (const cells of rows) console.log(`| ${cells.join(" | ")} |`);
  console.log("");
}

/** Compares the first ten results with those of FTS5. */
function printRelevance(measured, count) {
  const fts5 = measured.find(({ name }) => name === "fts5");
  const queries = comparedQueries(documents(count));
  for (const { name, title, results } of measured) {
    if (fts5 === undefined || name === "fts5") continue;
    let same = 0;
    let sameSet = 0;
    let shared = 0;
    const different = [];
    for (const [i, ids] of results.entries()) {
      const theirs = new Set(fts5.results[i]);
      const common = ids.filter((id) => theirs.has(id)).length;
      shared += theirs.size === 0 ? 1 : common / theirs.size;
      if (common === theirs.size) sameSet++;
      if (ids.join() === fts5.results[i].join()) same++;
      else different.push(queries[i].words.join(" "));
    }
    const overlap = ((100 * shared) / results.length).toFixed(1);
    console.log(
      `${title}: the same first ten in the same order as FTS5 for ${same} of ${results.length} queries, in any order for ${sameSet}; ${overlap} % of the rows are the same.`,
    );
    if (name === "keywright" && different.length > 0)
      console.log(`  others: ${different.slice(0, 12).join("; ")}`);
  }
  console.log("");
}
