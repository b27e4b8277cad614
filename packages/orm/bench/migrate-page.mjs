// What `npm run bench:migrate` measured, as text and as the Markdown of docs/migrate-benchmarks.md.
import { machine } from "./benchmark-page.mjs";

/** The page: what was measured, how, and on what. */
export function migratePage(builds) {
  return `# Benchmarks of migrations

\`npm run bench:migrate\` measures the building of an index and writes this page. What counts are the ratios, taken in one
run: the times are those of one machine.

${migrateFigures(builds)}
## What is measured

- The database is on disk, with \`durability: "full"\`, and holds users of four fields, about 100 bytes each, without an index.
  One index over the favorite color is added, which 1,000 colors share, and built by \`migrate\`: it counts the rows, writes
  the entries in batches under checks on every row, and reads rows and entries both ways at the end to see that they match.
- By hand means: \`list\` of all rows and an atomic \`set\` of the same entries, 500 at a time, with no checks, no progress to
  go on from, and no writers beside it.
- Each build is a process of its own, in turns; a ratio is that of the medians. Memory is the most that the process had
  resident, with LevelDB's caches.
- The writers are 16 loops that create, update and delete a user, in the process of the build.

## Measured with

${machine(["classic-level", "zod"])}
`;
}

/** The tables, which stand in the page and are printed. */
export function migrateFigures(builds) {
  const lines = [
    "| rows | building, rows/s | by hand | times as fast | all of `migrate` | counting | building | verifying | peak memory | by hand |",
    "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
  ];
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

16 writers make ${share} % of the commits beside a build that they make without one.
`;
}

function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return Number.isInteger(middle)
    ? (sorted[middle - 1] + sorted[middle]) / 2
    : sorted[Math.floor(middle)];
}
