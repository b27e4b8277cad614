import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { coreErrorCodes } from "@keywright/core";
import { ormErrorCodes } from "@keywright/orm";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { findTopic, nearTopics, readPages, type Topic } from "../src/cli/docs/pages.js";
import { renderPage } from "../src/cli/docs/render-page.js";
import { codegenErrorCodes } from "../src/index.js";
import { textWidth } from "../src/progress/text-width.js";
import { createProject, type Project } from "./project.js";

const docs = join(import.meta.dirname, "../../../docs");

let pages: readonly Topic[];
let project: Project;

beforeAll(async () => {
  pages = await readPages();
  project = await createProject({});
});
afterAll(() => project.remove());
// Styles would make the lines of these tests unreadable.
beforeEach(() => vi.stubEnv("NO_COLOR", "1"));
afterEach(() => vi.unstubAllEnvs());

const plainStyle = { bold: (text: string) => text, dim: (text: string) => text };

it("lists the topics with what each is about", async () => {
  const { stdout, exitCode } = await project.run(["docs"]);
  expect(stdout).toMatch(/^ {2}queries +How do you read rows, page through them/m);
  expect(stdout).toMatch(/^ {2}migrations\/rows +How do you change the schema/m);
  expect(exitCode).toBe(0);
});

it("prints the page of the repository, in which links between pages stay", async () => {
  const { stdout } = await project.run(["docs", "transactions"]);
  const page = await readFile(join(docs, "transactions.md"), "utf8");
  const withoutTargets = (text: string) => text.replaceAll(/\]\([^)]*\)/g, "]");
  expect(withoutTargets(stdout)).toBe(withoutTargets(page));
  expect(stdout).toContain("](writes.md)");
  // Other pages are not in the package.
  expect(stdout).not.toContain("](internals/");
});

it.each(["migrations", "migrations/rows", "QUERIES", "queries.md"])("finds %s", async (name) => {
  expect((await project.run(["docs", name])).exitCode).toBe(0);
});

it("prints one heading", async () => {
  const { stdout } = await project.run(["docs", "models#forms-and-apis", "--json"]);
  const { topic, title, text } = JSON.parse(stdout).result;
  expect({ topic, title }).toEqual({ topic: "models#forms-and-apis", title: "Forms and APIs" });
  expect(text).toMatch(/^## Forms and APIs\n/);
  expect(text).not.toMatch(/\n## /);
});

it("has each error code, with or without its beginning", async () => {
  for (const code of [...coreErrorCodes, ...ormErrorCodes, ...codegenErrorCodes])
    expect(findTopic(pages, code)?.text, code).toMatch(new RegExp(`^### ${code}\n`));
  const { stdout } = await project.run(["docs", "unique_constraint"], 60);
  expect(stdout).toMatch(/^KW_UNIQUE_CONSTRAINT\n\n`UniqueConstraintError`\. Another row has/);
});

it("suggests topics for one that does not exist", async () => {
  const { stdout, stderr, exitCode } = await project.run(["docs", "querys"]);
  expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 2 });
  expect(stderr).toContain("there is no topic querys; did you mean queries?");
  expect(nearTopics(pages, "KW_UNIQUE_CONSTRIANT")).toContain("KW_UNIQUE_CONSTRAINT");
  expect(nearTopics(pages, "snapshots")).toContain("transactions#snapshots");
  expect(nearTopics(pages, "xyzzy")).toEqual([]);
});

it("each link between the pages leads to a topic", () => {
  const known = new Set(pages.map(({ topic }) => topic));
  for (const { topic, text } of pages) {
    for (const [, path = ""] of text.matchAll(/\]\((?!\w+:|#)([^)#]+)/g)) {
      const target = new URL(path, `page:/${topic === "migrations" ? "migrations/" : topic}`);
      const name = target.pathname.slice(1).replace(/(\/README)?\.md$/, "");
      expect(known, `${topic} links to ${path}`).toContain(name);
    }
  }
});

describe.each([60, 100])("on a terminal with %i columns", (columns) => {
  it("no line of text is wider, and code stays as it is", () => {
    for (const { topic, text } of pages) {
      const shown = renderPage(text, { topic, columns, ...plainStyle });
      const code = [...text.matchAll(/^ *```\w*\n(.*?)^ *```$/gms)].flatMap(([, lines = ""]) =>
        lines.split("\n"),
      );
      const isCode = new Set(code.map((line) => line.trim()));
      const wide = shown.split("\n").filter((line) => {
        // A quotation is not broken, and so is what is glued to it.
        const hasSpace = line
          .replaceAll(/`[^`]*`/g, "")
          .trim()
          .includes(" ");
        return textWidth(line) > columns && hasSpace && !isCode.has(line.trim());
      });
      expect(wide, topic).toEqual([]);
      for (const line of isCode) expect(shown).toContain(line);
    }
  });

  it("has no marks of Markdown", () => {
    const { text } = findTopic(pages, "queries")!;
    const shown = renderPage(text, { topic: "queries", columns, ...plainStyle });
    expect(shown).not.toMatch(/\]\(|\*\*|^#|^\|/m);
    expect(shown.replaceAll(/\s+/g, " ")).toContain("input from outside [security]");
  });
});
