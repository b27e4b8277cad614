import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { anchorOf } from "../build/anchors.mjs";
import { replaceLinks } from "../build/markdown.mjs";
import { root, siteFile, sources } from "../build/page-list.mjs";
import { writeSitePages } from "../build/site-pages.mjs";
import { filesIn } from "../build/written-files.mjs";

let folder;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "keywright-site-"));
  writeSitePages(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const page = (file) => readFileSync(join(folder, file), "utf8");

it("every page of the documentation is in the menu", () => {
  const folders = ["docs", "docs/migrations", "docs/internals", "docs/adr", "docs/reports"];
  const packages = readdirSync(join(root, "packages")).map((name) => `packages/${name}`);
  const pages = [...folders, ...packages].flatMap((each) =>
    readdirSync(join(root, each))
      .filter((name) => name.endsWith(".md") && name !== "CHANGELOG.md")
      .map((name) => `${each}/${name}`),
  );
  expect(pages.filter((each) => !sources.includes(each))).toEqual([]);
});

it("no two pages have the same address", () => {
  expect(new Set(sources.map(siteFile)).size).toBe(sources.length);
});

it("the links of every page lead to pages and headings of the site", () => {
  const files = filesIn(folder).filter((file) => file.endsWith(".md"));
  expect(files.length).toBeGreaterThan(80);
  const headings = new Map(
    files.map((file) => [
      file,
      [...page(file).matchAll(/^#+ (.+)$/gm)].map(([, text]) => anchorOf(text)),
    ]),
  );
  const broken = [];
  let links = 0;
  for (const file of files) {
    replaceLinks(page(file), (target) => {
      links++;
      const [path, anchor] = target.split("#");
      const found = join(dirname(file), path);
      if (!existsSync(join(folder, found))) broken.push(`${file}: ${target}`);
      else if (anchor !== undefined && !headings.get(found).includes(anchor))
        broken.push(`${file}: ${target}`);
      return target;
    });
  }
  expect(broken).toEqual([]);
  expect(links).toBeGreaterThan(400);
});

it("the home page has the program of the README, and ratios of the stored results", () => {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const [program] = /^```ts\n[\s\S]*?^```$/m.exec(readme);
  const home = page("index.md");
  expect(home).toContain(program);
  const { day } = JSON.parse(
    readFileSync(join(root, "benchmarks/results/cases-10000.json"), "utf8"),
  );
  expect(home).toContain(`Measured on ${day}`);
  expect(home.match(/times as (fast|long)/g).length).toBeGreaterThanOrEqual(8);
});

it("every error code has an anchor that does not change", () => {
  const codes = [...page("errors.md").matchAll(/^### (KW_\w+)$/gm)].map(([, code]) => code);
  expect(codes.length).toBeGreaterThan(100);
  expect(codes.map(anchorOf)).toEqual(codes.map((code) => code.toLowerCase()));
});
