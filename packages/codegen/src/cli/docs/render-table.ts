import { textWidth } from "../../progress/text-width.js";
import { minColumns, wrap } from "../terminal/text/wrap.js";

/** The space between two columns. */
const gap = 2;

/**
 * Renders a table. If its last column has too little room for its words, each row becomes a
 * paragraph: the first cell, and below it the others with the titles of their columns.
 */
export function renderTable(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number,
  bold: (text: string) => string,
): string {
  const widths = header.map((title, i) =>
    Math.max(...[title, ...rows.map((row) => row[i] ?? "")].map(textWidth)),
  );
  const left = widths.slice(0, -1).reduce((sum, width) => sum + width + gap, 0);
  const room = columns - left;
  const hasRoom = (row: readonly string[]) =>
    wrap(row.at(-1) ?? "", room)
      .split("\n")
      .every((text) => textWidth(text) <= room);
  if (room < Math.min(minColumns, widths.at(-1) ?? 0) || !rows.every(hasRoom))
    return rows.map((row) => paragraph(header, row, columns, bold)).join("\n\n");
  const line = (cells: readonly string[]): string => {
    const start = cells.slice(0, -1).map((cell, i) => padded(cell, widths[i]! + gap));
    const [first = "", ...rest] = wrap(cells.at(-1) ?? "", room).split("\n");
    const lines = [start.join("") + first, ...rest.map((text) => " ".repeat(left) + text)];
    return lines.map((text) => text.trimEnd()).join("\n");
  };
  const titles = header.every((title) => title === "") ? [] : [bold(line(header))];
  return [...titles, ...rows.map(line)].join("\n");
}

function paragraph(
  header: readonly string[],
  [first = "", ...cells]: readonly string[],
  columns: number,
  bold: (text: string) => string,
): string {
  const lines = cells.flatMap((cell, i) => {
    const title = header[i + 1] ?? "";
    if (cell === "") return [];
    // With two columns, it is clear what the second one is.
    const text = title === "" || cells.length === 1 ? cell : `${title}: ${cell}`;
    return wrap(text, columns - gap).split("\n");
  });
  return [bold(wrap(first, columns)), ...lines.map((line) => " ".repeat(gap) + line)].join("\n");
}

function padded(text: string, width: number): string {
  return text + " ".repeat(width - textWidth(text));
}
