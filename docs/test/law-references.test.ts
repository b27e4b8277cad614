import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What a page of `docs/internals` names: one of our files, and maybe a test in it. */
interface Reference {
  readonly page: string;
  /** The end of the file's path. */
  readonly file: string;
  /** A part of the test's name, or what a table of cases makes of it. */
  readonly test: string | undefined;
}

const fileName = /`([\w./-]+\.(?:ts|mjs|json))`(?!\s+of\s+denoland\/)/g;
/** Parentheses that begin with a file or a test, as the laws have them. */
const parentheses = /\(((?=["`])(?:"[^"]*"|`[^`]*`|[^()"`])*)\)/g;
/** Where no file stands before a test, it is in the file that the page says. */
const fileOfPage = /`([\w./-]+\.ts)` where no other is named/;
/** What stands for a case in the name of a test. */
const hole = /\$\{[^}]*\}|%[a-z]|\$\w+/;

function referencesOf(page: string, text: string): Reference[] {
  const references: Reference[] = [];
  for (const [, file] of text.matchAll(fileName)) {
    references.push({ page, file: file!, test: undefined });
  }
  for (const [, group] of text.matchAll(parentheses)) {
    let files = [fileOfPage.exec(text)?.[1]];
    let isAfterAnd = false;
    for (const [token, file, test] of group!.matchAll(/`([^`]+)`|"([^"]*)"|\S+/g)) {
      if (file !== undefined) files = isAfterAnd ? [...files, file] : [file];
      if (test !== undefined) {
        const name = test.replaceAll(/\s+/g, " ");
        for (const each of files) references.push({ page, file: each ?? "no file", test: name });
      }
      isAfterAnd = token === "and";
    }
  }
  return references;
}

/** The text of our files whose paths end so. */
async function textsOf(file: string): Promise<string[]> {
  const paths = (await files).filter((path) => `/${path}`.endsWith(`/${file}`));
  return await Promise.all(paths.map((path) => readFile(join(root, path), "utf8")));
}

async function ourFiles(): Promise<string[]> {
  const packages = await readdir(join(root, "packages"));
  const folders = packages.flatMap((name) => [`packages/${name}/src`, `packages/${name}/test`]);
  const listed = folders.map(async (folder) => {
    const names = await readdir(join(root, folder), { recursive: true });
    return names.map((name) => `${folder}/${name.replaceAll("\\", "/")}`);
  });
  return (await Promise.all(listed)).flat();
}

/** Whether a file has a test of that name, as it stands there or for one of its cases. */
function hasTest(text: string, name: string): boolean {
  const part = name.replace(/ …$/, "");
  const titles = text.matchAll(/(["'`])((?:(?!\1).)*)\1/g);
  return [...titles].some(([, , title]) => title!.includes(part) || isCase(part, title!));
}

function isCase(name: string, title: string): boolean {
  const fixed = title.split(hole);
  // Else nearly every name would be a case of it.
  if (fixed.length === 1 || fixed.join("").trim().length < 10) return false;
  return new RegExp(`^${fixed.map(escaped).join(".+")}$`).test(name);
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

const files = ourFiles();
const folder = join(root, "docs/internals");
const pages = (await readdir(folder)).filter((name) => name.endsWith(".md"));
const references = (
  await Promise.all(
    pages.map(async (page) => referencesOf(page, await readFile(join(folder, page), "utf8"))),
  )
).flat();

describe("the pages of docs/internals", () => {
  it.each(pages)("%s names tests", (page) => {
    expect(references.some((each) => each.page === page && each.test !== undefined)).toBe(true);
  });

  it("name files that there are", async () => {
    const missing = [];
    for (const { page, file } of references) {
      if ((await textsOf(file)).length === 0) missing.push(`${page}: ${file}`);
    }
    expect(missing).toEqual([]);
  });

  it("name tests that there are", async () => {
    const missing = [];
    for (const { page, file, test } of references) {
      if (test === undefined) continue;
      const texts = await textsOf(file);
      if (!texts.some((text) => hasTest(text, test))) missing.push(`${page}: ${file}: ${test}`);
    }
    expect(missing).toEqual([]);
  });
});
