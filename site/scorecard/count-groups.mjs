import { relative } from "node:path";

/** The suite of the ORM has one group for each database, and a test for each feature. */
const ormGroup = "the ORM on ";

/** What is stored of a file whose tests wrote no report: they were stopped, or ended early. */
export const didNotFinish = { "did not finish": [0, 0, 1] };

/**
 * Counts the tests of each feature in a report of Vitest.
 *
 * @returns by test file and `engine: feature`: passed, skipped for a missing capability, failed. A
 *   file that could not be loaded has one feature with the name "could not be loaded".
 */
export function countGroups(report, root) {
  const files = {};
  for (const { name, assertionResults, message } of report.testResults) {
    const groups = {};
    files[relative(root, name).replaceAll("\\", "/")] = groups;
    for (const { ancestorTitles, title, status } of assertionResults) {
      // The groups of a server's tests are within a group that starts the server.
      const inner = ancestorTitles.at(-1) ?? "";
      const group = inner.startsWith(ormGroup)
        ? `${inner.slice(ormGroup.length)}: ${title}`
        : inner;
      groups[group] ??= [0, 0, 0];
      groups[group][status === "passed" ? 0 : isSkipped(status) ? 1 : 2]++;
    }
    if (assertionResults.length === 0 && message !== "") groups["could not be loaded"] = [0, 0, 1];
  }
  return files;
}

function isSkipped(status) {
  return status === "skipped" || status === "pending" || status === "todo";
}
