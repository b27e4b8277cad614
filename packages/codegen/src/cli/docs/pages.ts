import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { nearestName } from "@keywright/orm/codegen";

/** A page of the documentation, or a part of one. */
export interface Topic {
  /** The name by which `keywright docs` finds it, such as `queries` or `migrations/rows`. */
  readonly topic: string;
  readonly title: string;
  /** The first paragraph, without markup. */
  readonly summary: string;
  /** Markdown. */
  readonly text: string;
}

/** The pages of `docs` that the build has copied, with links that lead to pages among them. */
const folder = fileURLToPath(new URL("../../../dist/docs/", import.meta.url));

/** Reads all pages, sorted by topic. */
export async function readPages(): Promise<Topic[]> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => name.endsWith(".md"));
  const pages = names.map(async (name) => {
    const topic = name.replaceAll("\\", "/").replace(/(\/README)?\.md$/, "");
    return topicOf(topic, await readFile(`${folder}${name}`, "utf8"));
  });
  return (await Promise.all(pages)).sort((a, b) => (a.topic < b.topic ? -1 : 1));
}

/** Returns a page, a heading of a page or an error code. Undefined if there is no such topic. */
export function findTopic(pages: readonly Topic[], name: string): Topic | undefined {
  const [pageName = "", anchor] = name.replace(/\.md(?=#|$)/, "").split("#");
  const page = pages.find(({ topic }) => topic === pageName.toLowerCase());
  if (anchor !== undefined) return page && sectionOf(page, anchor.toLowerCase());
  if (page !== undefined) return page;
  const errors = pages.find(({ topic }) => topic === "errors");
  const code = name.toLowerCase().replace(/^(kw_)?/, "kw_");
  return errors && sectionOf(errors, code, code.toUpperCase());
}

const maxNear = 5;

/** Returns topics that somebody may have meant: similar names, and headings with these words. */
export function nearTopics(pages: readonly Topic[], name: string): string[] {
  const wanted = name.toLowerCase();
  const names = pages.map(({ topic }) => topic);
  const headings = pages.flatMap(({ topic, text }) => {
    const found = headingsOf(text).slice(1);
    return found.map(({ anchor }) =>
      topic === "errors" ? anchor.toUpperCase() : `${topic}#${anchor}`,
    );
  });
  const codes = headings.filter((heading) => heading.startsWith("KW_"));
  const has = (candidate: string) => candidate.toLowerCase().includes(wanted);
  const nearest = nearestName(name, /^kw_/i.test(name) ? codes : names);
  const near = [
    ...(nearest === undefined ? [] : [nearest]),
    ...names.filter(has),
    ...(wanted.length < minWordLength ? [] : headings.filter(has)),
  ];
  return [...new Set(near)].slice(0, maxNear);
}

/** A shorter word is part of too many headings. */
const minWordLength = 3;

function topicOf(topic: string, text: string): Topic {
  const [, title = topic] = /^#+ (.+)$/m.exec(text) ?? [];
  const paragraphs = text.split(/\n{2,}/).map((part) => part.trim());
  const first = paragraphs.find((part) => /^[\p{L}`[*]/u.test(part)) ?? "";
  const [sentence = ""] = /^.*?[.?!](?=\s|$)/s.exec(first) ?? [first];
  return { topic, title: plain(title), summary: plain(sentence), text };
}

function plain(text: string): string {
  return text
    .replaceAll("\n", " ")
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[`*]/g, "");
}

/** Returns the part of a page from a heading up to the next one that is not below it. */
function sectionOf(
  page: Topic,
  anchor: string,
  name = `${page.topic}#${anchor}`,
): Topic | undefined {
  const headings = headingsOf(page.text);
  const at = headings.findIndex((heading) => heading.anchor === anchor);
  const start = headings[at];
  if (start === undefined) return undefined;
  const end = headings.slice(at + 1).find(({ level }) => level <= start.level);
  return topicOf(name, `${page.text.slice(start.index, end?.index).trimEnd()}\n`);
}

interface Heading {
  readonly level: number;
  readonly index: number;
  /** The name by which links find the heading, as GitHub makes it. */
  readonly anchor: string;
}

function headingsOf(text: string): Heading[] {
  // A line of a code block may begin with # too.
  const prose = text.replaceAll(/^ *```.*?^ *```$/gms, (block) => " ".repeat(block.length));
  return [...prose.matchAll(/^(#+) (.*)$/gm)].map(({ 1: marks = "", 2: title = "", index }) => ({
    level: marks.length,
    index,
    anchor: title
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
      .replaceAll(" ", "-"),
  }));
}
