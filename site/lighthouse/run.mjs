// `npm run site:lighthouse`: measures pages of the built site with Lighthouse, served on loopback,
// and prints a table. `-- --update` writes it into CONTRIBUTING.md. The first run installs
// Lighthouse in this folder.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { serveBuilt } from "../test/browser/serve-built.mjs";

const folder = fileURLToPath(new URL(".", import.meta.url));
const built = fileURLToPath(new URL("../.vitepress/dist", import.meta.url));
const contributing = fileURLToPath(new URL("../../CONTRIBUTING.md", import.meta.url));
const rounds = 3;

const pages = [
  ["home", "/"],
  ["a guide", "/indexes"],
  ["a page of the API", "/api/orm/"],
  ["the playground", "/playground"],
];
const categories = [
  ["performance", "performance"],
  ["accessibility", "accessibility"],
  ["best-practices", "best practices"],
  ["seo", "SEO"],
];

if (!existsSync(built)) throw new Error("The site is not built. Run `npm run site` first.");
if (!existsSync(`${folder}node_modules`)) {
  console.log("Installing Lighthouse. This may take a minute.");
  const command = "npm ci --loglevel=error --no-audit --no-fund";
  const { status } = spawnSync(command, { cwd: folder, stdio: "inherit", shell: true });
  if (status !== 0) throw new Error(`${command} failed in ${folder}.`);
}
const { default: lighthouse, desktopConfig } = await import("lighthouse");
const { launch } = await import("chrome-launcher");

const server = await serveBuilt(built);
const chrome = await launch({ chromeFlags: ["--headless=new", "--no-sandbox"] });
try {
  const forms = [
    ["mobile", undefined],
    ["desktop", desktopConfig],
  ];
  const rows = [];
  let last;
  for (const [form, config] of forms) {
    for (const [title, path] of pages) {
      const results = [];
      for (let round = 0; round < rounds; round++) {
        const options = { port: chrome.port, output: "json", logLevel: "error" };
        last = (await lighthouse(server.url + path, options, config)).lhr;
        results.push(last);
      }
      rows.push(rowOf(title, form, results));
      console.log(rows.at(-1));
      for (const line of lostPoints(last)) console.log(`  ${line}`);
    }
  }
  const table = tableOf(rows, last);
  console.log(`\n${table}`);
  if (process.argv.includes("--update")) update(table);
} finally {
  chrome.kill();
  await server.close();
}

function rowOf(title, form, results) {
  const scores = categories.map(([id]) =>
    median(results.map((each) => Math.round(each.categories[id].score * 100))),
  );
  const milliseconds = (id) => median(results.map((each) => each.audits[id].numericValue));
  const paint = `${(milliseconds("largest-contentful-paint") / 1000).toFixed(1)} s`;
  const blocked = `${Math.round(milliseconds("total-blocking-time"))} ms`;
  return `| ${[title, form, ...scores, paint, blocked].join(" | ")} |`;
}

/** The audits that cost points, to know what to correct. */
function lostPoints({ audits, categories: found }) {
  return Object.values(found).flatMap(({ id, auditRefs }) =>
    auditRefs
      .filter((each) => each.weight > 0 && (audits[each.id].score ?? 1) < 0.9)
      .map((each) => `${id}: ${audits[each.id].title} (${audits[each.id].displayValue ?? ""})`),
  );
}

function tableOf(rows, { lighthouseVersion, environment, fetchTime }) {
  const head = ["page", "device", ...categories.map(([, title]) => title), "LCP", "blocked"];
  const chromeVersion = /Chrome\/(\d+)/.exec(environment.hostUserAgent)[1];
  return `Lighthouse ${lighthouseVersion}, Chromium ${chromeVersion}, ${fetchTime.slice(0, 10)}, medians of ${rounds} runs:

| ${head.join(" | ")} |
|${" --- |".repeat(head.length)}
${rows.join("\n")}
`;
}

function update(table) {
  const text = readFileSync(contributing, "utf8");
  const before = /^Lighthouse \d.*\n\n(?:\|.*\n)+/m;
  if (!before.test(text)) throw new Error("CONTRIBUTING.md has no table of Lighthouse.");
  writeFileSync(contributing, text.replace(before, table));
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
