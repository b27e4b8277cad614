// Writes what `npm run bench:migrate` measured as the Markdown of docs/migrate-benchmarks.md.
import { machine } from "./benchmark-page.mjs";

/** Returns the page: the figures, how they were measured, and on which machine. */
export function migratePage(builds) {
  return `# Benchmarks of migrations

How fast does \`migrate\` build an index, compared with a loop written by hand, and how much does it slow down writers?

Compare the ratios, which were taken in one run. The times are those of one machine. A ratio of 0.5 × means that
\`migrate\` handles half as many rows per second as the loop: a larger ratio is better.

${migrateFigures(builds)}
## What is measured

\`npm run bench:migrate\` takes these measurements and writes this page.

- **\`migrate\`** adds one index over the favorite color to a database that has no index. It works in three phases: it
  counts the rows, builds the entries in batches that check every row, and verifies that rows and entries match in both
  directions. The first ratio compares only the building phase with the loop. The second ratio includes counting and
  verifying, which the loop does not do.
- **The loop** written by hand lists all rows, and sets the same entries with atomic operations of 500. It checks
  nothing, cannot be resumed, and needs all writers to be stopped.
- **The database** is on disk, with durability \`full\`. It holds users of four fields and about 100 bytes each, with
  1,000 different colors.
- **Figures.** Each build runs in its own process, \`migrate\` and the loop in turns. The times are medians, and a ratio
  is the quotient of two medians. Peak memory is the most that a process had resident, with LevelDB's caches.
- **The writers** are 16 loops in the process of the build. Each creates, updates and deletes a user again and again.

## Measured with

${machine(["classic-level", "zod"])}
`;
}

/** Returns the figures, which are part of the page and are also printed. */
export function migrateFigures(builds) {
  const head = [
    "rows",
    "`migrate`, rows/s built",
    "by hand, rows/s built",
    "building, times as fast",
    "all phases, times as fast",
    "counting",
    "building",
    "verifying",
    "peak memory of `migrate`",
    "peak memory by hand",
  ];
  const lines = [`| ${head.join(" | ")} |`, `| ${head.map(() => "---").join(" | ")} |`];
  for (const rows of new Set(builds.map((build) => build.rows))) {
    const of = (by) => builds.filter((build) => build.rows === rows && build.by === by);
    const [ours, theirs] = [of("keywright"), of("hand")];
    const whole = rows / median(ours.map((build) => build.seconds));
    const rate = rows / median(ours.map(({ phases }) => phases.building));
    const byHand = rows / median(theirs.map((build) => build.seconds));
    const phase = (name) => `${median(ours.map(({ phases }) => phases[name] ?? 0)).toFixed(1)} s`;
    const peak = (runs) => `${Math.max(...runs.map((build) => build.peakMiB)).toFixed(0)} MiB`;
    const cells = [
      rows.toLocaleString("en"),
      Math.round(rate).toLocaleString("en"),
      Math.round(byHand).toLocaleString("en"),
      `${(rate / byHand).toFixed(2)} ×`,
      `${(whole / byHand).toFixed(2)} ×`,
      phase("counting"),
      phase("building"),
      phase("verifying"),
      peak(ours),
      peak(theirs),
    ];
    lines.push(`| ${cells.join(" | ")} |`);
  }
  const beside = builds.filter((build) => build.by === "writers").map((build) => build.ratio);
  const share = Math.round(median(beside) * 100);
  return `${lines.join("\n")}

While an index is built, 16 writers make ${share} % of the commits per second that they make without a build.
`;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return Number.isInteger(middle)
    ? (sorted[middle - 1] + sorted[middle]) / 2
    : sorted[Math.floor(middle)];
}
