// Records histories of clients and checks them: `npm run soak:histories -- --histories 2000`, as many
// of calls as of transactions. Exits with 1 if one is not strictly serializable.
import { parseArgs } from "node:util";
import { writeResults } from "../shared/write-results.mjs";
import {
  checkNewHistory,
  checkNewTransactions,
  databases,
  transactionDatabases,
} from "./histories.mjs";

/** Their clients wait most of the time, because they compete for the same few rows. */
const atOnce = 6;

const { values } = parseArgs({
  options: {
    histories: { type: "string", default: "2000" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const figures = {
  histories: 0,
  calls: 0,
  wrong: 0,
  transactions: { histories: 0, transactions: 0, wrong: 0, undecided: 0, databases: {} },
};
const { transactions } = figures;
const all = Object.entries(databases);
for (let i = 0; i < Number(values.histories); i++) {
  const [name, open] = all[i % all.length];
  const seed = Number(values.seed) + i;
  const { calls, problems } = await checkNewHistory(open, seed);
  figures.histories++;
  figures.calls += calls;
  if (problems.length > 0) figures.wrong++;
  for (const problem of problems) console.error(`${name}, seed ${seed}: ${problem}`);
}
for (const [name, { open, part }] of Object.entries(transactionDatabases)) {
  const count = Math.ceil(Number(values.histories) * part);
  transactions.databases[name] = count;
  let next = 0;
  const check = async () => {
    while (next < count) await checkTransactionsOf(name, open, Number(values.seed) + next++);
  };
  await Promise.all(Array.from({ length: atOnce }, check));
}

async function checkTransactionsOf(name, open, seed) {
  const checked = await checkNewTransactions(open, seed);
  transactions.histories++;
  transactions.transactions += checked.transactions;
  if (checked.isSerializable === undefined) transactions.undecided++;
  if (checked.isSerializable !== false) return;
  transactions.wrong++;
  console.error(`${name}, seed ${seed}: ${checked.problem}`);
}

const wrong = figures.wrong + transactions.wrong;
writeResults(
  "histories",
  figures,
  `${figures.histories} histories with ${figures.calls} calls and ${transactions.histories} with ${transactions.transactions} transactions, ${wrong} not strictly serializable, ${transactions.undecided} not decided`,
);
if (wrong > 0) process.exitCode = 1;
