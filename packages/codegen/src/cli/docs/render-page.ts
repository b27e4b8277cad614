import { lexer, type Token, type Tokens } from "marked";
import { textWidth } from "../../progress/text-width.js";
import { wrap } from "../terminal/text/wrap.js";
import { renderTable } from "./render-table.js";

export interface PageStyle {
  /** The page, whose own headings need no page in references. */
  readonly topic: string;
  /** The width of the terminal. */
  readonly columns: number;
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
}

/**
 * Renders a page of Markdown for a terminal. Paragraphs, lists and tables fit the width. Code stays
 * as it is, so that it can be copied.
 */
export function renderPage(markdown: string, style: PageStyle): string {
  const blocks = lexer(markdown).flatMap((token) => block(token, style, style.columns));
  return `${blocks.join("\n\n")}\n`;
}

/** Returns the text of a block. Comments and white space have none. */
function block(token: Token, style: PageStyle, columns: number): string[] {
  switch (token.type) {
    case "heading": {
      const { depth, tokens } = token as Tokens.Heading;
      const title = inline(tokens, style);
      const line =
        depth > 2
          ? ""
          : `\n${(depth === 1 ? "═" : "─").repeat(Math.min(textWidth(title), columns))}`;
      return [style.bold(`${wrap(title, columns)}${line}`)];
    }
    case "paragraph":
    case "text": {
      const { tokens, text } = token as Tokens.Paragraph;
      return [wrap(oneLine(tokens === undefined ? text : inline(tokens, style)), columns)];
    }
    case "code": {
      const { text } = token as Tokens.Code;
      return [style.dim(indented(text, "  "))];
    }
    case "blockquote":
      return [indented(blocks((token as Tokens.Blockquote).tokens, style, columns - 2), "│ ")];
    case "list":
      return [list(token as Tokens.List, style, columns)];
    case "table": {
      const { header, rows } = token as Tokens.Table;
      const texts = (cells: readonly Tokens.TableCell[]) =>
        cells.map(({ tokens }) => oneLine(inline(tokens, style)));
      return [renderTable(texts(header), rows.map(texts), columns, style.bold)];
    }
    case "hr":
      return ["─".repeat(columns)];
    default:
      return [];
  }
}

function blocks(tokens: readonly Token[], style: PageStyle, columns: number): string {
  return tokens.flatMap((token) => block(token, style, columns)).join("\n\n");
}

function list(
  { items, ordered, start, loose }: Tokens.List,
  style: PageStyle,
  columns: number,
): string {
  const texts = items.map(({ tokens }, i) => {
    const mark = ordered ? `${Number(start) + i}. ` : "- ";
    const text = tokens
      .flatMap((token) => block(token, style, columns - mark.length))
      .join(loose ? "\n\n" : "\n");
    const [first = "", ...rest] = text.split("\n");
    return [
      `${mark}${first}`,
      ...rest.map((line) => (line === "" ? "" : `${" ".repeat(mark.length)}${line}`)),
    ].join("\n");
  });
  return texts.join(loose ? "\n\n" : "\n");
}

/** Text within a line: without the marks of emphasis, and with references after links. */
function inline(tokens: readonly Token[], style: PageStyle): string {
  return tokens.map((token) => inlineToken(token, style)).join("");
}

function inlineToken(token: Token, style: PageStyle): string {
  switch (token.type) {
    case "strong":
      return style.bold(inline((token as Tokens.Strong).tokens, style));
    case "codespan":
      return `\`${(token as Tokens.Codespan).text}\``;
    case "link": {
      const { tokens, href } = token as Tokens.Link;
      const label = inline(tokens, style);
      const reference = referenceOf(href, style.topic);
      return reference === undefined || label.includes(reference)
        ? label
        : `${label} [${reference}]`;
    }
    case "image":
      return `(${(token as Tokens.Image).text})`;
    case "br":
      return "\n";
    case "html":
      return "";
    default: {
      const { tokens, text = token.raw } = token as Tokens.Text;
      return tokens === undefined ? text : inline(tokens, style);
    }
  }
}

/**
 * Returns the topic of a linked page or error, or the URL. Undefined for headings of the same page.
 */
function referenceOf(href: string, topic: string): string | undefined {
  if (/^\w+:/.test(href)) return href;
  const [path = "", anchor] = href.split("#");
  if (anchor?.startsWith("kw_")) return anchor.toUpperCase();
  if (path === "") return undefined;
  const [page = ""] = topic.split("#");
  const base = new URL(page.includes("/") || page !== "migrations" ? page : `${page}/`, "page:/");
  const { pathname } = new URL(path.replace(/(README)?\.md$/, ""), base);
  const name = pathname.replace(/^\/|\/$/g, "");
  return anchor === undefined ? name : `${name}#${anchor}`;
}

/** The lines of a paragraph in the source are one text. */
function oneLine(text: string): string {
  return text.replaceAll(/(?<! {2})\n/g, " ");
}

function indented(text: string, indentation: string): string {
  return text
    .split("\n")
    .map((line) => `${indentation}${line}`.trimEnd())
    .join("\n");
}
