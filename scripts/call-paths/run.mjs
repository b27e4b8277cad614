// Counts the files and functions that one call of the ORM goes through, and prints a table.
//
// What is counted: functions of packages/orm/dist and packages/core/dist that run at least once
// between the beginning and the end of the call, as the precise coverage of V8 reports them, and
// the files that contain them. Callbacks and accessors are functions too. The database is in
// memory. Each call was made once before, so nothing is counted that runs only the first time, and
// the lowest of several counts is printed, because a call may have to read the catalog again.
// `migrate` is counted at its first call.
//
// `npm run calls:paths -- --list create` prints the functions of one path in the order of their
// first calls.
import { Session } from "node:inspector/promises";
import { register } from "node:module";

const [option, listed] = process.argv.slice(2);

/** The functions in the order of their first calls. Filled by code that order-hooks.mjs adds. */
const order = new Set();
globalThis.keywrightCalled = (name) => order.add(name);
if (option === "--list") register("./order-hooks.mjs", import.meta.url);

// The hooks must be registered before the packages are imported.
const { paths } = await import("./paths.mjs");

const session = new Session();
session.connect();
await session.post("Profiler.enable");
await session.post("Profiler.startPreciseCoverage", { callCount: true });

/** Returns the number of calls of each function since the last call, by file. */
async function takeCalled() {
  const { result } = await session.post("Profiler.takePreciseCoverage");
  const isCalled = ({ ranges, functionName }) =>
    ranges[0].count > 0 && (functionName !== "" || ranges[0].startOffset > 0);
  return result
    .filter(({ url }) => /\/packages\/(core|orm)\/dist\//.test(url))
    .map(({ functions }) => functions.filter(isCalled).length)
    .filter((count) => count > 0);
}

if (option === "--list" && !Object.hasOwn(paths, listed)) {
  console.error(`--list needs one of: ${Object.keys(paths).join(", ")}`);
  process.exit(1);
}
const rows = {};
/** The functions of the path that is listed. */
let listedCalls = [];
for (const [name, prepare] of Object.entries(paths)) {
  if (option === "--list" && name !== listed) continue;
  const { call, close, times = 1 } = await prepare();
  for (let time = 1; time <= times; time++) {
    await takeCalled();
    order.clear();
    await call();
    const called = [...order];
    const counts = await takeCalled();
    const files = counts.length;
    if (rows[name] !== undefined && rows[name].files <= files) continue;
    rows[name] = { files, functions: counts.reduce((sum, count) => sum + count, 0) };
    listedCalls = called;
  }
  for (const each of listedCalls) console.log(each);
  close();
}
console.table(rows);
