// What `npm run bench:types` measured, as text and as the Markdown of docs/type-cost.md.
import { readFileSync } from "node:fs";
import { cpus, release, totalmem, type } from "node:os";

const libraries = {
  generated: "Keywright, generated repositories",
  inferred: "Keywright, `createDatabase`",
  prisma: "Prisma",
  drizzle: "Drizzle",
};

/** The page: what was measured, how, and on what. */
export function typeCostPage(measured) {
  return `# What types cost the compiler

\`npm run bench:types\` writes the same application for each library, checks its types, and writes this page. Instantiations
and types are the compiler's own counts, which are the same on every machine; times are those of one machine.

${typeCostTables(measured)}
## What is measured

- ${measured.count} models of twelve fields each, with a unique index, one over two fields and one over a reference, and relations to the
  two models beside it. Each has a file with four queries: one row by its email, for every other model with the row that it
  belongs to; a page by two fields, sorted; a row created, and one updated. What they return is used.
- Models are the model files alone. For Prisma they are no TypeScript: its \`schema.prisma\` is read by \`prisma generate\`. What
  opens the database and what was generated comes next, then the queries; each is what comes on top of the one before.
- Nothing but imports: a file that imports what the others import, and does nothing with it.
- One file: the whole program is read and a single file of queries checked, as when an editor opens it.
- Reading is parsing and binding; checking is all diagnostics. Times are medians of three processes each. Memory is the heap
  after a garbage collection, with the whole program checked.
- \`strict\`, \`exactOptionalPropertyTypes\`, \`noUncheckedIndexedAccess\` and \`skipLibCheck\`. Drizzle's tables are SQLite's. Prisma's
  provider is PostgreSQL, for lists and enums; its generator is \`prisma-client\` without an engine, and its JSON has no type
  of its own.
- A test measures 20 models and holds the ratios to the inferred ones and to Drizzle (\`packages/codegen/test/type-cost.test.ts\`).

## Measured with

${machine()}
`;
}

/** The tables, which stand in the page and are printed. */
export function typeCostTables({ count, libraries: costs }) {
  const shares = table(
    ["instantiations", "models", "database", "queries", "whole", "nothing but imports"],
    eachLibrary(costs, ({ imports, models, database, whole }) => [
      models === undefined ? "" : number(models.instantiations),
      number(database.instantiations - (models?.instantiations ?? 0)),
      number(whole.instantiations - database.instantiations),
      number(whole.instantiations),
      number(imports.instantiations),
    ]),
  );
  const whole = table(
    ["the whole program", "types", "reading", "checking", "memory"],
    eachLibrary(costs, ({ whole: { types, reading, checking, memory } }) => [
      number(types),
      seconds(reading),
      seconds(checking),
      `${Math.round(memory / 2 ** 20)} MiB`,
    ]),
  );
  const oneFile = table(
    ["one file of queries", "instantiations", "types", "checking"],
    eachLibrary(costs, ({ oneFile: { instantiations, types, checking } }) => [
      number(instantiations),
      number(types),
      seconds(checking),
    ]),
  );
  return `${count} models:

${ratios(costs)}
${shares}
${whole}
${oneFile}`;
}

/** What the generated repositories take of what the others do, and the goals. */
function ratios({ generated, inferred, prisma, drizzle }) {
  const above = ({ models, whole }) => whole.instantiations - (models?.instantiations ?? 0);
  const row = (what, ours, against, theirs, goal) => [
    what,
    libraries[against],
    times(ours / theirs),
    goal,
    ours / theirs <= parseFloat(goal) ? "met" : "missed",
  ];
  const total = ({ whole }) => whole.instantiations;
  const third = "0.333 ×";
  const same = "1.000 ×";
  return table(
    ["instantiations of generated repositories", "against", "of theirs", "goal at most", ""],
    [
      row("on top of the models", above(generated), "inferred", above(inferred), third),
      row("on top of the models", above(generated), "prisma", above(prisma), same),
      row("on top of the models", above(generated), "drizzle", above(drizzle), same),
      row("with the models", total(generated), "inferred", total(inferred), third),
      row("with the models", total(generated), "prisma", total(prisma), same),
      row("with the models", total(generated), "drizzle", total(drizzle), same),
    ],
  );
}

function eachLibrary(costs, cells) {
  return Object.entries(libraries).map(([name, title]) => [title, ...cells(costs[name])]);
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |\n`;
  return line(head) + line(head.map(() => "---")) + rows.map(line).join("");
}

function number(value) {
  return value.toLocaleString("en");
}

function times(ratio) {
  return `${ratio.toFixed(3)} ×`;
}

function seconds(milliseconds) {
  return milliseconds < 1000
    ? `${Math.round(milliseconds)} ms`
    : `${(milliseconds / 1000).toFixed(1)} s`;
}

function machine() {
  const [cpu] = cpus();
  const names = ["typescript", "zod", "drizzle-orm", "prisma"];
  const versions = names.map((name) => `${name} ${installedVersion(name)}`).join(", ");
  return `${cpu.model}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GB of memory; ${type()} ${release()}; Node.js ${process.versions.node};
${versions}.`;
}

function installedVersion(name) {
  for (const folder of ["node_modules/", "../../../node_modules/"]) {
    try {
      const file = new URL(`${folder}${name}/package.json`, import.meta.url);
      return JSON.parse(readFileSync(file, "utf8")).version;
    } catch {}
  }
  return "unknown";
}
