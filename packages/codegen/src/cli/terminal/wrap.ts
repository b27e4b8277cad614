import { textWidth } from "../../progress/text-width.js";

/** The maximum width of texts, in columns. Longer lines are hard to read. */
const maxColumns = 100;

/** The width of texts if the stream is not a terminal. */
const defaultColumns = 80;

/** The minimum width of the descriptions of terms. Otherwise they begin at the indentation. */
export const minColumns = 24;

/** Returns the width of help texts and reports for a stream, in columns. */
export function columnsOf({ isTTY, columns }: NodeJS.WriteStream): number {
  return isTTY ? Math.min(columns || defaultColumns, maxColumns) : defaultColumns;
}

/** Breaks the long lines of a text between words if the stream is a terminal. */
export function wrapped(stream: NodeJS.WriteStream, text: string): string {
  return stream.isTTY ? wrap(text, columnsOf(stream)) : text;
}

/**
 * Returns a help text for `addHelpText`. Lines that do not begin with a space are joined to
 * paragraphs, and paragraphs are broken for the width of the terminal.
 */
export function helpText(
  text: string,
): (context: {
  readonly command: { configureOutput(): { getOutHelpWidth?(): number | undefined } };
}) => string {
  const paragraphs = text.replaceAll(/(?<=^\S.*)\n(?=\S)/gm, " ");
  return ({ command }) =>
    wrap(paragraphs, command.configureOutput().getOutHelpWidth?.() ?? defaultColumns);
}

/** Breaks the long lines of a text between words. */
export function wrap(text: string, columns: number): string {
  return text
    .split("\n")
    .flatMap((line) => (textWidth(line) > columns ? wrapLine(line, columns) : [line]))
    .join("\n");
}

/** Further lines begin below the description of a term, or at the indentation of the line. */
function wrapLine(line: string, columns: number): string[] {
  const [indentation = ""] = /^\s*/.exec(line) ?? [];
  const [term = indentation] = /^.*?\S {2,}(?=\S)/.exec(line) ?? [];
  const start = textWidth(term) <= columns - minColumns ? term : indentation;
  const lines: string[] = [];
  let [current, words] = [start, 0];
  for (const word of line.slice(start.length).split(" ")) {
    if (words > 0 && textWidth(`${current} ${word}`) > columns) {
      lines.push(current);
      [current, words] = [" ".repeat(textWidth(start)), 0];
    }
    current += words++ === 0 ? word : ` ${word}`;
  }
  return [...lines, current];
}
