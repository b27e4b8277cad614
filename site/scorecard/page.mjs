import { readFileSync } from "node:fs";
import { engines, kinds } from "./suites.mjs";

const results = JSON.parse(readFileSync(new URL("results.json", import.meta.url), "utf8"));

const runtimeTitle = (name) => {
  const [, program, version] = /^([a-z]+)(\d*)$/.exec(name);
  const title = { node: "Node.js", deno: "Deno", bun: "Bun", chromium: "Chromium" }[program];
  return version === "" ? title : `${title} ${version}`;
};

/** The page of the scorecard: each cell is a group of tests that ran. */
export function scorecardPage(stored = results) {
  const runtimes = Object.entries(stored);
  const parts = runtimes.map(([name, run]) => runtimeSection(name, run));
  return `# Scorecard

Which features work on which engine and runtime?

Each cell is the result of tests that ran: \`12\` means that 12 tests passed. \`10 of 12\` means that the
engine does not claim a capability that the other 2 need. **failed** means that a test failed, and a dash that the suite did
not run there. The tests are the [contract suites](./database.md#write-an-engine) that \`@keywright/core/testing\` and \`@keywright/orm/testing\`
export, so you can run them on an engine of your own. \`npm run scorecard\` runs them and stores their reports. This page
is made from the reports.

Runtimes: ${runtimes.map(([name, run]) => `${runtimeTitle(name)} (${run.version}, ${run.day})`).join(", ")}. All ran on Linux. macOS and Windows are not tested.

## All tests

${summary(runtimes)}${unfinished(runtimes)}
${parts.join("\n")}`;
}

function summary(runtimes) {
  const rows = engines.map((engine) => [
    engine.title,
    ...runtimes.map(([, run]) => cell(sum(groupsOf(run, engine).map(([, counts]) => counts)))),
  ]);
  return table(["engine", ...runtimes.map(([name]) => runtimeTitle(name))], rows);
}

/** The files whose tests wrote no report, as a list. */
function unfinished(runtimes) {
  const lines = runtimes.flatMap(([name, { files }]) =>
    Object.keys(files)
      .filter((file) => "did not finish" in files[file] || "could not be loaded" in files[file])
      .map((file) => `- \`${file}\` on ${runtimeTitle(name)}`),
  );
  return lines.length === 0 ? "" : `\nThese tests did not finish:\n\n${lines.join("\n")}\n`;
}

function runtimeSection(name, run) {
  const tables = kinds.flatMap(({ file, title, about }) => {
    const columns = engines
      .map((engine) => ({ engine, groups: new Map(groupsOf(run, engine, file)) }))
      .filter(({ groups }) => groups.size > 0);
    const features = [...new Set(columns.flatMap(({ groups }) => [...groups.keys()]))];
    if (features.length === 0) return [];
    const rows = features.map((feature) => [
      feature,
      ...columns.map(({ groups }) => cell(groups.get(feature))),
    ]);
    const head = ["feature", ...columns.map(({ engine }) => engine.title)];
    return [`### ${title} on ${runtimeTitle(name)}\n\n${capital(about)}.\n\n${table(head, rows)}`];
  });
  return `## ${runtimeTitle(name)}\n\n${tables.join("\n")}`;
}

/** The groups of one engine in the report of a runtime: name of the feature and counts. */
function groupsOf(run, { names }, file = "") {
  return Object.entries(run.files)
    .filter(([path]) => path.includes(file))
    .flatMap(([, groups]) => Object.entries(groups))
    .flatMap(([group, counts]) => {
      const own = names.find((name) => group.startsWith(`${name}: `));
      return own === undefined ? [] : [[group.slice(own.length + 2), counts]];
    });
}

function cell(counts) {
  if (counts === undefined) return "–";
  const [passed, skipped, failed] = counts;
  if (failed > 0) return `**${failed} failed**`;
  if (passed === 0) return skipped === 0 ? "–" : "no";
  return skipped === 0 ? `${passed}` : `${passed} of ${passed + skipped}`;
}

function sum(list) {
  return [0, 1, 2].map((place) => list.reduce((total, counts) => total + counts[place], 0));
}

function capital(text) {
  return text[0].toUpperCase() + text.slice(1);
}

function table(head, rows) {
  const line = (cells) => `| ${cells.map((text) => text.replaceAll("|", "\\|")).join(" | ")} |\n`;
  return line(head) + line(head.map(() => "---")) + rows.map(line).join("");
}
