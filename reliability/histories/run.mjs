// Records histories of clients and checks them: `npm run soak:histories -- --histories 2000`, as many
// of calls as of transactions in memory and on LevelDB, and a part of that on the other engines.
// `--engine etcd` records only transactions, on one of them. Exits with 1 if one is not strictly
// serializable.
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { writeResults } from "../shared/write-results.mjs";
import { checkNewHistory, databases, inPlace } from "./histories.mjs";
import { places } from "./transaction-places.mjs";

/** Their clients wait most of the time, because they compete for the same few rows. */
const usualAtOnce = 6;

const { values } = parseArgs({
  options: {
    histories: { type: "string", default: "2000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    engine: { type: "string" },
  },
});
if (values.engine !== undefined && !Object.hasOwn(places, values.engine))
  throw new Error(`--engine must be one of ${Object.keys(places).join(", ")}`);
const histories = Number(values.histories);
const firstSeed = Number(values.seed);
const figures = {
  histories: 0,
  calls: 0,
  wrong: 0,
  transactions: {
    ...{ histories: 0, transactions: 0, interrupted: 0, unknown: 0, failed: 0 },
    ...{ wrong: 0, undecided: 0, databases: {} },
  },
};
const { transactions } = figures;
if (values.engine === undefined) {
  const all = Object.entries(databases);
  for (let i = 0; i < histories; i++) {
    const [name, open] = all[i % all.length];
    const seed = firstSeed + i;
    const { calls, problems } = await checkNewHistory(open, seed);
    figures.histories++;
    figures.calls += calls;
    if (problems.length > 0) figures.wrong++;
    for (const problem of problems) console.error(`${name}, seed ${seed}: ${problem}`);
  }
}
for (const [name, { part, ...place }] of Object.entries(places)) {
  if (values.engine === undefined) await recordPlace(place, Math.ceil(histories * part));
  else if (values.engine === name) await recordPlace(place, histories);
}

/** Records and checks histories of transactions. */
async function recordPlace({ title, isInstalled = true, atOnce = usualAtOnce, ...place }, count) {
  if (!isInstalled) {
    console.log(`No histories ${title}: it is not installed.`);
    return;
  }
  transactions.databases[title] = count;
  await inPlace(place, async (check) => {
    let next = 0;
    const checkNext = async () => {
      while (next < count) {
        const seed = firstSeed + next++;
        addFigures(await check(seed), `${title}, seed ${seed}`);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, checkNext));
  });
}

function addFigures({ isSerializable, problem, history, ...counts }, name) {
  transactions.histories++;
  for (const [figure, count] of Object.entries(counts)) transactions[figure] += count;
  if (isSerializable === undefined) transactions.undecided++;
  if (isSerializable !== false) return;
  transactions.wrong++;
  const file = join(tmpdir(), `history-${process.pid}-${transactions.histories}.json`);
  writeFileSync(file, JSON.stringify(history));
  console.error(`${name}, written to ${file}: ${problem}`);
}

const wrong = figures.wrong + transactions.wrong;
writeResults(
  "histories",
  figures,
  `${figures.histories} histories with ${figures.calls} calls and ${transactions.histories} with ${transactions.transactions} transactions (${transactions.unknown} of unknown outcome), ${transactions.interrupted} histories interrupted by the end of a process or of its connections, ${wrong} not strictly serializable, ${transactions.undecided} not decided`,
);
if (wrong > 0) process.exitCode = 1;
