import { ratio, resultsOf, table } from "../../benchmarks/page/figures.mjs";
import { inWords } from "../build/home-page.mjs";
import { comparisons } from "./comparisons.mjs";
import { features } from "./features.mjs";
import { sources } from "./sources.mjs";

/** The measurements that comparison pages show, with our engine for each. */
const measurements = [
  ["a row by id", "byId", "keywright-level"],
  ["a page of 20 rows", "page", "keywright-level"],
  ["100 rows by index", "byColor", "keywright-level"],
  ["one `create` after another, on disk", "create, full", "keywright-level"],
  ["64 calls of `create` at a time, on disk", "createTogether, full", "keywright-level"],
];

/** The pages about others, by file. */
export function comparisonPages() {
  return [
    ["compare/index.md", overview()],
    ...comparisons.map((each) => [`compare/${each.file}.md`, comparisonPage(each)]),
  ];
}

function overview() {
  const lines = comparisons.map(
    ({ file, title, choose }) => `- [${title}](./${file}.md). ${choose}`,
  );
  const rows = Object.values(features).map((each) => [each.title, each.text, testOf(each)]);
  return `# Compared with others

When is Keywright the right choice, and when is something else?

${lines.join("\n")}

## What Keywright does

Each line names a test that fails if the line is no longer true.

${table(["what", "Keywright", "test"], rows)}
Not yet compared by a test or a source: everything that these pages do not mention.
`;
}

function comparisonPage({ title, choose, cells, notes = [], contender }) {
  const tests = [...new Set(cells.map(([name]) => testOf(features[name])))];
  const used = [...new Set([...cells.map(([, , from]) => from), ...notes.map(([, from]) => from)])];
  const test = (name) => `[test ${tests.indexOf(testOf(features[name])) + 1}](#tests)`;
  const source = (name) => `[source ${used.indexOf(name) + 1}](#sources)`;
  const rows = cells.map(([name, text, from]) => {
    const own = features[name];
    return [own.title, `${own.text} (${test(name)})`, `${text} (${source(from)})`];
  });
  const others = notes.map(([text, from]) => `- ${text} (${source(from)})\n`).join("");
  return `# Keywright and ${title}

Which of the two fits your program?

${choose}

${table(["what", "Keywright", title], rows)}
${others}${speed(contender)}
## Tests

Each of these tests fails if Keywright no longer does what the table says.

${tests.map((text, place) => `${place + 1}. ${text}`).join("\n")}

## Sources

${used.map((name, place) => `${place + 1}. <${sources[name].url}>, read on ${sources[name].read}`).join("\n")}
`;
}

function speed(contender) {
  if (contender === undefined) return "";
  const [name, title] = contender;
  const { day, machine, figures, versions } = resultsOf("cases-10000");
  const rows = measurements
    .filter(
      ([, figure, ours]) =>
        figures[figure]?.[ours] !== undefined && figures[figure][name] !== undefined,
    )
    .map(([text, figure, ours]) => [
      text,
      inWords(ratio(figures[figure][ours], figures[figure][name])),
    ]);
  const used = Object.entries(versions)
    .filter(([each]) => title.includes(each) || each.startsWith(name.split("-")[0]))
    .map(([each, version]) => `${each} ${version}`);
  return `
## Speed

Keywright on LevelDB, compared with ${title}, in one run on ${day}: ${machine}; ${used.join(", ")}.
[The benchmarks](../benchmarks.md) have all figures.

${table(["operation", "Keywright"], rows)}`;
}

function testOf({ file, test }) {
  return `“${test}” in \`${file}\``;
}
