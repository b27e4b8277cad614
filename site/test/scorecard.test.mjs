import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { runtimes } from "../../scripts/runtimes/runtimes.mjs";
import { countGroups, didNotFinish } from "../scorecard/count-groups.mjs";
import { scorecardPage } from "../scorecard/page.mjs";

const stored = JSON.parse(
  readFileSync(new URL("../scorecard/results.json", import.meta.url), "utf8"),
);

it("counts the tests of each feature, those of the ORM by their names", () => {
  const one = (first, title, status) => ({ ancestorTitles: [first], title, status });
  const report = {
    testResults: [
      {
        name: "/root/a.test.ts",
        message: "",
        assertionResults: [
          one("LmdbEngine: get", "reads", "passed"),
          one("LmdbEngine: get", "reads more", "failed"),
          one("LmdbEngine: openView", "reads (skipped: no capability)", "skipped"),
          one("the ORM on LMDB", "creates a row", "passed"),
        ],
      },
      { name: "/root/b.test.ts", message: "SyntaxError", assertionResults: [] },
    ],
  };
  expect(countGroups(report, "/root")).toEqual({
    "a.test.ts": {
      "LmdbEngine: get": [1, 0, 1],
      "LmdbEngine: openView": [0, 1, 0],
      "LMDB: creates a row": [1, 0, 0],
    },
    "b.test.ts": { "could not be loaded": [0, 0, 1] },
  });
});

it("shows what passed, what an engine does not claim, what failed, and what did not run", () => {
  const files = {
    "packages/core/test/engine-contract.test.ts": {
      "MemoryEngine: get": [5, 0, 0],
      "MemoryEngine: the log": [11, 2, 0],
      "MemoryEngine: several engines on one storage": [0, 7, 0],
      "LevelEngine on disk: get": [4, 0, 1],
    },
    "packages/etcd/test/slow/kv-contract.test.ts": didNotFinish,
  };
  const page = scorecardPage({ node20: { version: "20.20.2", day: "2026-11-27", files } });
  expect(page).toContain("| memory | 16 of 25 |");
  expect(page).toContain("- `packages/etcd/test/slow/kv-contract.test.ts` on Node.js 20\n");
  expect(page).toContain("| get | 5 | **1 failed** |");
  expect(page).toContain("| the log | 11 of 13 | – |");
  expect(page).toContain("| several engines on one storage | no | – |");
});

it("the stored results have tests of every engine, and none that failed", () => {
  const page = scorecardPage(stored);
  const [, summary] = /## All tests\n\n(\|[\s\S]*?)\n\n/.exec(page);
  const rows = summary.split("\n").slice(2);
  expect(rows.length).toBeGreaterThan(5);
  expect(rows.filter((row) => !/\d/.test(row))).toEqual([]);
  expect(rows.filter((row) => row.includes("failed"))).toEqual([]);
});

it("the stored results are of runtimes that are tested", () => {
  const names = [...runtimes.map(({ name }) => name), "chromium"];
  expect(Object.keys(stored).filter((name) => !names.includes(name))).toEqual([]);
});
