import { join } from "node:path";
import { expect, it } from "vitest";
import { pages, proseOf, root } from "./pages.js";

/**
 * Returns the rows that do not render as part of a table: those after a blank line, which have no
 * header, and those with more or fewer cells than their header.
 */
function brokenRows(prose: string): string[] {
  return [...prose.matchAll(/(?:^ *\|.*\n?)+/gm)].flatMap(([table]) => {
    const rows = table.trimEnd().split("\n");
    const [header = "", delimiter = ""] = rows;
    if (!/^[ |:-]*-[ |:-]*$/.test(delimiter)) return [header];
    return rows.filter((row) => cellCount(row) !== cellCount(header));
  });
}

/** A `|` in code separates cells too, unless it is escaped. */
function cellCount(row: string): number {
  return row.trim().split(/(?<!\\)\|/).length - 2;
}

it("finds rows after a blank line, and rows with another number of cells", () => {
  const table = "| a | b |\n| --- | --- |\n| 1 | 2 |\n";
  expect(brokenRows(table)).toEqual([]);
  expect(brokenRows(`${table}\n| 3 | 4 |\n`)).toEqual(["| 3 | 4 |"]);
  expect(brokenRows(`${table}| \`3 | 4\` | 5 |\n`)).toEqual(["| `3 | 4` | 5 |"]);
  expect(brokenRows(`${table}| \`3 \\| 4\` | 5 |\n`)).toEqual([]);
});

it.each(pages)("every table row of %s belongs to a table", (page) => {
  expect(brokenRows(proseOf(join(root, page)))).toEqual([]);
});
