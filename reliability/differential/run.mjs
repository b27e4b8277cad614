// Compares with Deno KV, with SQLite and with a list of rows: `npm run soak:differential -- --calls 1000000`. Exits with
// 1 if a result differs.
import { parseArgs } from "node:util";
import { writeResults } from "../shared/write-results.mjs";
import { compareSearches, compareWithDeno, compareWithSql } from "./differential.mjs";

const { values } = parseArgs({
  options: {
    calls: { type: "string", default: "1000000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const [calls, seed] = [Number(values.calls), Number(values.seed)];
const kv = await compareWithDeno(calls, seed);
const queries = await compareWithSql(calls, seed);
const searches = await compareSearches(calls, seed);
const differences = [...kv.differences, ...queries.differences, ...searches.differences];
for (const difference of differences) console.error(difference);
writeResults(
  "differential",
  {
    kvCalls: kv.calls,
    kvDifferences: kv.differences.length,
    queryCalls: queries.calls,
    queryDifferences: queries.differences.length,
    searchCalls: searches.calls,
    searchDifferences: searches.differences.length,
  },
  `${kv.calls} calls beside Deno KV, ${kv.differences.length} differ; ` +
    `${queries.calls} calls beside SQLite, ${queries.differences.length} differ; ` +
    `${searches.calls} calls beside a list of rows, ${searches.differences.length} differ`,
);
if (differences.length > 0) process.exitCode = 1;
