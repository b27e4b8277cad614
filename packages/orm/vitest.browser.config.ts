import { defineConfig } from "vitest/config";
import { inBrowser } from "../../vitest.browser.mjs";

/** Tests that need no file and no other module of Node.js, and take little time. */
const files = [
  "absent-fields",
  "bounds",
  "call-options",
  "commit-context",
  "computed",
  "concurrency",
  "copy-of-data",
  "count",
  "cursors",
  "declared-aggregates",
  "equals",
  "explain",
  "generated-rows",
  "generated-views",
  "guide-layout",
  "included-counts",
  "index-conditions",
  "index-functions",
  "indexes",
  "key-text",
  "middleware",
  "old-programs",
  "partial-unique",
  "plain-changes",
  "plan-migration",
  "preview-duplicates",
  "query-events",
  "read-ahead",
  "read-limit",
  "relation-filter-cases",
  "retry",
  "row-upgrade",
  "scopes",
  "search-shapes",
  "soft-delete",
  "sorted-ids",
  "text-index",
  "timestamps",
  "unawaited-writes",
  "update-unique",
];

export default defineConfig(
  inBrowser({
    include: ["test/browser/*.test.ts", ...files.map((name) => `test/${name}.test.ts`)],
  }),
);
