// The program of `ClientProcess`. It ends when the process that has started it disconnects.
import { Random } from "../shared/random.mjs";
import { openClients } from "./open-clients.mjs";
import { recordTransactions } from "./record-transactions.mjs";

const opened = new Map();
const calls = {
  async open(where, connections) {
    const clients = await openClients(where, connections);
    const number = opened.size;
    opened.set(number, clients);
    return number;
  },
  async record(number, { seed, ...options }) {
    const { dbs } = opened.get(number);
    return await recordTransactions(dbs, { random: new Random(seed), ...options });
  },
  async close(number) {
    await opened.get(number).close();
  },
};

process.on("message", (message) => void answer(message));
process.on("disconnect", () => process.exit());

async function answer({ id, name, args }) {
  try {
    process.send({ id, result: await calls[name](...args) });
  } catch (error) {
    process.send({ id, error: String(error.stack) });
  }
}
