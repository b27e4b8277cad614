import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../build/page-list.mjs";
import { comparisons } from "../compare/comparisons.mjs";
import { features } from "../compare/features.mjs";
import { sources } from "../compare/sources.mjs";

it.each(Object.values(features))(
  "$title: the test that the page names exists",
  ({ file, test }) => {
    const text = readFileSync(join(root, file), "utf8");
    expect(text).toMatch(
      new RegExp(`\\bit(\\.each\\(.*\\))?\\("${test.replaceAll(/[.*+?^$()[\]{}|\\]/g, "\\$&")}"`),
    );
  },
);

it("every cell of another has a feature, and a source with the day on which it was read", () => {
  const cells = comparisons.flatMap(({ cells, notes = [] }) => [
    ...cells.map(([name, , source]) => [features[name], sources[source]]),
    ...notes.map(([, source]) => [true, sources[source]]),
  ]);
  expect(cells.length).toBeGreaterThan(10);
  for (const [feature, source] of cells) {
    expect(feature).toBeDefined();
    expect(source.url).toMatch(/^https:\/\//);
    expect(source.read).toMatch(/^\d{4}-\d\d-\d\d$/);
  }
});
