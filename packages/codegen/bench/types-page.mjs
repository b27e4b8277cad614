// Writes what `npm run bench:types` measured as the Markdown of docs/type-cost.md.
import { readFileSync } from "node:fs";
import { cpus, release, totalmem, type } from "node:os";

const libraries = {
  generated: "Keywright, generated repositories",
  inferred: "Keywright, `createDatabase`",
  prisma: "Prisma",
  drizzle: "Drizzle",
};

/** Returns the page: the tables, how they were measured, and on which machine. */
export function typeCostPage(measured) {
  return `# What types cost the compiler

How much work do the types of an application make for the TypeScript compiler, compared with Prisma and Drizzle?

The same application is written for each library. Instantiations of types are the compiler's own measure of work, and
are the same on every machine. A ratio of 0.5 × means half as many instantiations as the other: a smaller ratio is
better.

${typeCostTables(measured)}
## What is measured

\`npm run bench:types\` writes the programs, checks their types, and writes this page.

- **Models.** ${measured.count} models have twelve fields each, a unique index, an index over two fields, an index over a reference,
  and relations to the two neighbouring models.
- **Queries.** Each model has a file with four queries: find one row by its email (for every second model, with the row
  that it belongs to), read a sorted page by two fields, create a row, and update a row. The file uses the results.
- **Parts.** Instantiations of a part are those on top of the parts before it. "Models" are the model files. Prisma has
  none in TypeScript: \`prisma generate\` reads a \`schema.prisma\`. "Database" is the code that opens the database, with
  the generated code. "Imports alone" is a file that imports what the program imports, and does nothing with it.
- **One file of queries.** The whole program is parsed, and one file of queries is checked, as when an editor opens it.
- **Times** are medians of three processes, on one machine. Parsing includes reading and binding the files. Checking
  includes all errors that the compiler can report. Memory is the heap after a garbage collection, when the whole
  program has been checked.
- **Settings** are \`strict\`, \`exactOptionalPropertyTypes\`, \`noUncheckedIndexedAccess\` and \`skipLibCheck\`. Drizzle uses
  its tables for SQLite. Prisma uses the provider PostgreSQL, because its SQLite has no enums and no lists. Its
  generator is \`prisma-client\` without an engine, and its JSON fields have no type.
- **A test** (\`packages/codegen/test/type-cost.test.ts\`) compares programs of 10 and 30 models. It fails if one more
  model with generated repositories costs more than a third of what it costs with \`createDatabase\`, or more than with
  Drizzle or Prisma.

## Measured with

${machine()}
`;
}

/** Returns the tables, which are part of the page and are also printed. */
export function typeCostTables({ count, libraries: costs }) {
  const shares = table(
    ["instantiations by part", "models", "database", "queries", "whole program", "imports alone"],
    eachLibrary(costs, ({ imports, models, database, whole }) => [
      models === undefined ? "" : number(models.instantiations),
      number(database.instantiations - (models?.instantiations ?? 0)),
      number(whole.instantiations - database.instantiations),
      number(whole.instantiations),
      number(imports.instantiations),
    ]),
  );
  const whole = table(
    ["whole program", "types", "parsing", "checking", "memory"],
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
  return `Instantiations of a program with ${count} models that uses Keywright's generated repositories:

${ratios(costs)}
${shares}
${whole}
${oneFile}`;
}

/** Compares the instantiations of generated repositories with those of the other libraries. */
function ratios({ generated, inferred, prisma, drizzle }) {
  const aboveModels = ({ models, whole }) => whole.instantiations - (models?.instantiations ?? 0);
  const total = ({ whole }) => whole.instantiations;
  const row = (what, ours, against, theirs, goal) => [
    what,
    libraries[against],
    times(ours / theirs),
    goal,
    ours / theirs <= parseFloat(goal) ? "met" : "missed",
  ];
  const third = "0.333 ×";
  const same = "1.000 ×";
  const [part, whole] = ["database and queries", "whole program"];
  return table(
    ["instantiations of", "compared with", "ratio", "goal, at most", "goal is"],
    [
      row(part, aboveModels(generated), "inferred", aboveModels(inferred), third),
      row(part, aboveModels(generated), "prisma", aboveModels(prisma), same),
      row(part, aboveModels(generated), "drizzle", aboveModels(drizzle), same),
      row(whole, total(generated), "inferred", total(inferred), third),
      row(whole, total(generated), "prisma", total(prisma), same),
      row(whole, total(generated), "drizzle", total(drizzle), same),
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
  return `${cpu.model}, ${cpus().length} cores, ${Math.round(totalmem() / 2 ** 30)} GiB of memory; ${type()} ${release()}; Node.js ${process.versions.node};
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
