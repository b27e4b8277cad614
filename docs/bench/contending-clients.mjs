// The clients of one process, for contention.mjs. It opens the database, says so, and begins when
// it is told.
import { once } from "node:events";
import { openToBench } from "./open-to-bench.mjs";

const { place, rows, work, clients, seconds } = JSON.parse(process.argv[2]);
const { kv, db } = await openToBench(place, rows);
const any = () => Math.floor(Math.random() * rows);
const change = (accounts, id, by) =>
  accounts.update({ where: { id }, data: { balance: { increment: by } } });

const works = {
  /** Moves money between two of the rows. */
  transfer: async () => {
    const from = any();
    const to = (from + 1 + Math.floor(Math.random() * (rows - 1))) % rows;
    await db.transaction(async (tx) => {
      await change(tx.accounts, from, -1);
      await change(tx.accounts, to, 1);
    });
  },
  /** Changes a single row, for all clients the same. */
  increment: () => change(db.accounts, 0, 1),
};

process.send("ready");
await once(process, "message");
const times = [];
/** How many calls of other clients of this process ended during each call. */
const overtaken = [];
let failed = 0;
const start = performance.now();
const client = async () => {
  while (performance.now() - start < seconds * 1000) {
    const begun = performance.now();
    const ended = times.length;
    try {
      await works[work]();
    } catch (error) {
      if (!error.retryable) throw error;
      failed++;
    }
    overtaken.push(times.length - ended);
    times.push(performance.now() - begun);
  }
};
await Promise.all(Array.from({ length: clients }, client));
process.send({ times, overtaken, failed, seconds: (performance.now() - start) / 1000 });
// Others may be attached to this process.
if (process.connected) await once(process, "disconnect");
await kv.close();
