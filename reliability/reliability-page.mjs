// Writes docs/reliability.md from the descriptions and the results of the campaigns:
// `npm run docs:reliability`. Each folder with a file about.mjs is a campaign.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";

/** The text of the page. */
export async function reliabilityPage() {
  const sections = [];
  for (const campaign of readdirSync(here("."))) {
    const path = here(`${campaign}/about.mjs`);
    if (!existsSync(path)) continue;
    const { about } = await import(pathToFileURL(path).href);
    sections.push(section(about, resultsOf(campaign)));
  }
  return `# Reliability

What does Keywright promise if a process is killed, if the power or the disk fails, or if bytes are not valid, and how is
that tested?

Each promise has a test that \`npm test\` runs, and a long run whose figures are below. The runs are in the folder
\`reliability\`. \`npm run docs:reliability\` writes this page from their results.

${sections.join("\n")}`;
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
    `${short === undefined ? "" : `\`npm test\` runs ${short}. `}The long run is \`${command}\`. ${run}`,
  ];
  return paragraphs.map((paragraph) => `${wrap(paragraph)}\n`).join("\n");
}

/** Breaks a paragraph into lines of at most 120 characters. */
function wrap(paragraph) {
  const lines = [""];
  for (const word of paragraph.split(" ")) {
    const line = lines.at(-1) === "" ? word : `${lines.at(-1)} ${word}`;
    if (line.length <= 120) lines[lines.length - 1] = line;
    else lines.push(word);
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
