// Writes docs/reliability.md from the descriptions and the results of the campaigns:
// `npm run docs:reliability`. Each folder with a file about.mjs is a campaign.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { differenceList } from "./deno-suites/difference-list.mjs";
import { survivorList } from "./mutation/survivor-list.mjs";
import { notPromised } from "./not-promised.mjs";
import { faultTable } from "./planted/fault-table.mjs";

/** The text of the page. */
export async function reliabilityPage() {
  const [rows, sections] = [[], []];
  for (const campaign of readdirSync(here("."))) {
    const path = here(`${campaign}/about.mjs`);
    if (!existsSync(path)) continue;
    const { about } = await import(pathToFileURL(path).href);
    const results = resultsOf(campaign);
    for (const goal of about.goals) rows.push(tableRow(about.title, goal, results));
    sections.push(section(about, results));
    if (campaign === "deno-suites") sections.push(differenceList(results?.figures));
    if (campaign === "planted") sections.push(faultTable(results?.figures ?? {}));
    if (campaign === "mutation") sections.push(survivorList(results?.figures ?? {}));
  }
  const list = notPromised.map((limit) => wrap(`- ${limit}`, "  ")).join("\n");
  return `# Reliability

What does Keywright promise if a process is killed, if the power or the disk fails, or if bytes are not valid, and how is
that tested?

Each promise has a test that \`npm run test:slow\` runs, and a long run whose figures are below. The runs are in the folder
\`reliability\`. \`npm run docs:reliability\` writes this page from their results.

## How far the long runs went

A goal is what a long run is meant to reach before a release. The runs so far were made while the machine did other work
too, so several of them ended earlier. The last column has the CPU time that the rest needs, if it was measured.

| Campaign | Counted | Goal | Last run | All runs | Left |
| --- | --- | --- | --- | --- | --- |
${rows.join("\n")}

## What is not promised

${list}

${sections.join("\n")}`;
}

function tableRow(title, { unit, asked, ran, isOneRun = false, cpuSeconds }, results) {
  const link = `[${title}](#${title
    .toLowerCase()
    .replaceAll(/[^\w ]/g, "")
    .replaceAll(" ", "-")})`;
  const counted = (count) => count.toLocaleString("en-US");
  const last = results === undefined ? 0 : ran(results.figures);
  const all = isOneRun || results === undefined ? last : ran(results.total ?? results.figures);
  const left = leftOf(asked - Math.max(last, all), cpuSeconds);
  const shown = [asked, last, ...(isOneRun ? [] : [all])].map(counted);
  return `| ${link} | ${unit} | ${shown.join(" | ")} | ${isOneRun ? "| " : ""}${left} |`;
}

/** Returns what is left of a goal. `cpuSeconds` is what one more of the unit takes. */
function leftOf(count, cpuSeconds) {
  if (count <= 0) return "reached";
  if (cpuSeconds === undefined) return "";
  return `${((count * cpuSeconds) / 3600).toFixed(1)} h`;
}

function section({ title, promise, method, limits, short, command }, results) {
  const run =
    results === undefined
      ? "The long run has not been made yet."
      : `The last long run, on ${results.day} (${results.machine}, Node.js ${results.node}): **${results.line}.**`;
  const paragraphs = [
    `## ${title}`,
    promise,
    method,
    ...(limits === undefined ? [] : [limits]),
    `${short === undefined ? "" : `\`npm run test:slow\` runs ${short}. `}The long run is \`${command}\`. ${run}`,
  ];
  return paragraphs.map((paragraph) => `${wrap(paragraph)}\n`).join("\n");
}

/** Breaks a paragraph into lines of at most 120 characters. All but the first are indented. */
function wrap(paragraph, indentation = "") {
  const lines = [""];
  for (const word of paragraph.split(" ")) {
    const line = lines.at(-1) === "" ? word : `${lines.at(-1)} ${word}`;
    if (line.length <= 120) lines[lines.length - 1] = line;
    else lines.push(`${indentation}${word}`);
  }
  return lines.join("\n");
}

function resultsOf(campaign) {
  const path = here(`results/${campaign}.json`);
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : undefined;
}

function here(path) {
  return fileURLToPath(new URL(path, import.meta.url));
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(here("../docs/reliability.md"), await reliabilityPage());
