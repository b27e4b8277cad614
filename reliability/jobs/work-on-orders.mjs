// Enqueues its share of the orders and runs jobs, until it is killed or standard input ends:
// jobs-run.mjs starts it with the place, its number, its share, and how far ahead it may enqueue.
// Prints `+12` when 12 jobs have ended, and `enqueued` after its share.
import { openDatabase } from "../shared/open-database.mjs";
import { addOrders, handlers, openOrders, unfinished } from "./orders.mjs";

const [where, producer, share, ahead] = JSON.parse(process.argv[2]);
const ordersPerCommit = 10;

/** Repeats a call while the process is killed that owns the database. */
async function repeated(call) {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!error.retryable && error.code !== "KW_COMMIT_AMBIGUOUS") throw error;
    }
  }
}

// When the owner of a LevelDB folder is killed, another process takes over. Until it listens,
// opening may fail on a busy machine.
const options = { durability: "relaxed", attach: { takeOver: true } };
const kv = await repeated(() => openDatabase(where, options));
const db = await openOrders(kv);

let ended = 0;
const printing = setInterval(() => {
  if (ended > 0) console.log(`+${ended}`);
  ended = 0;
}, 50);
const onEnd = () => {
  ended++;
};
const isExpected = ({ message = "" }) => message.startsWith("fails") || message.includes("always");
const worker = db.work(handlers(db, onEnd), {
  concurrency: 16,
  lease: 2000,
  onError: (error, job) => {
    // Another process may own the database after this one was killed.
    if (job === undefined || !isExpected(error)) console.error(error);
  },
});

/** Stores the next orders, and returns the number after them. */
async function addNext() {
  const query = { where: { producer }, orderBy: { n: "desc" }, take: 1 };
  const [last] = (await db.orders.findMany(query)).items;
  const n = last === undefined ? 0 : last.n + 1;
  const end = Math.min(share, n + ordersPerCommit);
  if (n < share) await addOrders(db, producer, n, end);
  return end;
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 100));
let next = 0;
while (next < share) {
  next = await repeated(addNext);
  if (next % 200 === 0) while ((await repeated(() => unfinished(db))) > ahead) await pause();
}
console.log("enqueued");

process.stdin.resume();
await new Promise((resolve) => process.stdin.once("end", resolve));
while ((await repeated(() => unfinished(db))) > 0) await pause();
await worker.stop();
clearInterval(printing);
await kv.close();
