/**
 * Counts the changes in a report of Stryker, and lists those that no test notices. A change with
 * which the tests do not end counts as noticed.
 */
export function summary({ files }) {
  let noticed = 0;
  const survivors = [];
  for (const [file, { source, mutants }] of Object.entries(files)) {
    const lines = source.split("\n");
    for (const { status, location, replacement } of mutants) {
      if (status === "Killed" || status === "Timeout") noticed++;
      if (status !== "Survived" && status !== "NoCoverage") continue;
      const code = oneLine(textAt(lines, location));
      survivors.push({
        file,
        line: oneLine(lines[location.start.line - 1]),
        code,
        becomes: oneLine(replacement),
      });
    }
  }
  return { changes: noticed + survivors.length, noticed, survivors };
}

/**
 * Refuses a report in which a file of tests did not run. Stryker leaves out files that it cannot
 * load, and then counts the changes that they would have noticed as survivors.
 */
export function assertAllRan(report, testFiles) {
  const ran = Object.keys(report.testFiles).map((path) => path.replaceAll("\\", "/"));
  const missing = testFiles.filter((file) => !ran.some((path) => path.endsWith(file)));
  if (missing.length > 0) throw new Error(`Stryker has not run ${missing.join(", ")}.`);
}

/** A share in percent, rounded down, so that a goal that was just missed does not look reached. */
export function percent(part, whole) {
  return `${(Math.floor((1000 * part) / whole) / 10).toFixed(1)} %`;
}

/** Lines and columns of Stryker begin with 1. */
function textAt(lines, { start, end }) {
  const covered = lines.slice(start.line - 1, end.line);
  covered[covered.length - 1] = covered.at(-1).slice(0, end.column - 1);
  covered[0] = covered[0].slice(start.column - 1);
  return covered.join("\n");
}

const longest = 90;

function oneLine(text) {
  const joined = text.trim().replaceAll(/\s+/g, " ");
  return joined.length <= longest ? joined : `${joined.slice(0, longest - 1)}…`;
}
