/** Prints the results of all engines as Markdown tables. */
export function printTables(results) {
  const operations = Object.keys(results[0].measured);
  const names = results.map(({ name }) => name);
  const cells = (cell) =>
    operations.map((name) => [name, ...results.map(({ measured }) => cell(measured[name]))]);
  const base = results.find(({ name }) => name === "LevelDB");
  print(
    "One call at a time: median (99th percentile)",
    names,
    cells(({ one }) => times(one)),
  );
  print(
    "64 calls at a time: operations/s",
    names,
    cells(({ many }) => number(many.rate)),
  );
  print(
    `64 calls at a time: operations/s, relative to ${base.name}`,
    names,
    operations.map((name) => [
      name,
      ...results.map(({ measured }) => ratio(measured[name].many, base.measured[name].many)),
    ]),
  );
  const memory = results.find(({ name }) => name === "memory").measured;
  for (const result of results) {
    if (result.measured[operations[0]].requests) printModel(result, memory);
  }
  print("Rows", names, [
    ["rows/s of `createMany`", ...results.map(({ fillRate }) => number(fillRate))],
    ["bytes per row", ...results.map(({ bytesPerRow }) => number(bytesPerRow))],
  ]);
}

/** Compares the time of each call with that of its requests, and of the same call in memory. */
function printModel({ name, measured }, memory) {
  const [read, commit] = Object.values(measured).map(({ one }) => one.median);
  print(
    `${name}: reads × ${read.toFixed(2)} ms + commits × ${commit.toFixed(2)} ms + the time in memory`,
    ["reads", "commits", "predicted", "measured"],
    Object.entries(measured)
      .slice(2)
      .map(([operation, { requests, one }]) => {
        const { reads, commits } = requests;
        const predicted = reads * read + commits * commit + memory[operation].one.median;
        return [operation, reads, commits, milliseconds(predicted), milliseconds(one.median)];
      }),
  );
}

function print(title, columns, rows) {
  console.log(`### ${title}\n\n| | ${columns.join(" | ")} |`);
  console.log(`|${" --- |".repeat(columns.length + 1)}`);
  for (const row of rows) console.log(`| ${row.join(" | ")} |`);
  console.log();
}

function times({ median, p99 }) {
  return `${milliseconds(median)} (${milliseconds(p99)})`;
}

function milliseconds(time) {
  return `${time < 1 ? time.toFixed(3) : time.toFixed(1)} ms`;
}

function number(value) {
  return Math.round(value).toLocaleString("en");
}

function ratio({ rate }, { rate: base }) {
  return `${(rate / base).toPrecision(2)} ×`;
}
