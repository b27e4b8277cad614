import { escapeControls } from "../../../inspect/entries/escape-controls.js";
import { textWidth } from "../../../progress/text-width.js";
import { hasColors } from "../terminal.js";

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

/**
 * Writes a text and a line end, with characters escaped that a terminal would execute. Long lines
 * are broken between words if the stream is a terminal.
 */
export function writeText(stream: NodeJS.WriteStream, text: string): void {
  stream.write(`${wrapped(stream, text)}\n`);
}

/**
 * Escapes the characters of a text that a terminal would execute, and breaks its long lines between
 * words if the stream is a terminal.
 */
export function wrapped(stream: NodeJS.WriteStream, text: string): string {
  const safe = escapeControls(text, hasColors(stream));
  return stream.isTTY ? wrap(safe, columnsOf(stream)) : safe;
}

/** Returns a command of `keywright` on a line of its own, which {@link wrap} does not break. */
export function commandLine(args: string): string {
  return `  npx keywright ${args}`;
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

/**
 * Breaks the long lines of a text between words. Commands on a line of their own stay whole, and so
 * do quotations and keys that fit.
 */
export function wrap(text: string, columns: number): string {
  return text
    .split("\n")
    .flatMap((line) =>
      textWidth(line) > columns && !isCommand(line) ? wrapLine(line, columns) : [line],
    )
    .join("\n");
}

function isCommand(line: string): boolean {
  return /^\s+npx /.test(line);
}

/** The command and the note of an example: `  $ keywright verify   compare all rows`. */
const exampleLine = /^(\s+\$ .*?\S) {2,}(\S.*)$/;

/**
 * Further lines begin below the last column of the line that leaves enough room, or else at the
 * indentation of the line.
 */
function wrapLine(line: string, columns: number): string[] {
  const [indentation = ""] = /^\s*(?:- |\d+\. )?/.exec(line) ?? [];
  const columnStarts = [...line.matchAll(/(?<=\S {2,})(?=\S)/g)].map(({ index }) =>
    line.slice(0, index),
  );
  const hasRoom = (start: string) => {
    const room = columns - textWidth(start);
    const words = wordsOf(line.slice(start.length), columns);
    return room >= minColumns && words.every((word) => textWidth(word) <= room);
  };
  const start = columnStarts.findLast(hasRoom) ?? indentation;
  const [, command, note] = start === indentation ? (exampleLine.exec(line) ?? []) : [];
  if (command !== undefined && note !== undefined)
    return [command, `${indentation}    ${note}`].flatMap((part) =>
      wrap(part, columns).split("\n"),
    );
  const lines: string[] = [];
  let [current, words] = [start, 0];
  for (const word of wordsOf(line.slice(start.length), columns - textWidth(start))) {
    if (words > 0 && textWidth(`${current} ${word}`) > columns) {
      lines.push(current);
      [current, words] = [" ".repeat(textWidth(start)), 0];
    }
    current += words++ === 0 ? word : ` ${word}`;
  }
  return [...lines, current];
}

/**
 * Returns the words of a text. Quotations and keys are one word if they are at most `room` wide.
 */
function wordsOf(text: string, room: number): string[] {
  const space = "\u0000";
  const joined = (part: string) => (textWidth(part) <= room ? part.replaceAll(" ", space) : part);
  return text
    .replaceAll(/`[^`]*`|"[^"]*"/g, joined)
    .replaceAll(/\[[^\]]*\]/g, joined)
    .split(" ")
    .map((word) => word.replaceAll(space, " "));
}
