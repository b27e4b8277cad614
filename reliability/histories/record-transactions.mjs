import { setImmediate as turn } from "node:timers/promises";
import { calls, ids, lists, predicateWrites, reads, writes } from "./transaction-calls.mjs";

/** The codes of errors of transactions and calls that had no effect. */
const withoutEffect = new Set(["KW_ENGINE_UNAVAILABLE", "KW_TRANSACTION_CONFLICT"]);

/**
 * Lets clients run transactions and single calls on two models at the same time, and records them.
 * Other processes may do the same on the same database.
 *
 * A history is a list of transactions, `{ client, start, end, startedAt, endedAt, operations }`.
 * `start` and `end` are nanoseconds of a clock that all processes of the machine share, the others
 * milliseconds since the epoch. One has ended before another begins if its `end` is less than the
 * other's `start`. An operation is `{ type, model, result }` and what it was called with. A
 * transaction that was aborted, or had no effect because of an error, has `isAborted`. One that may
 * have been committed or not, now or later, has `isUnknown`. If it is a single call, its operation
 * has `hasNoResult`.
 *
 * @param dbs one or more databases with the models. Each client uses one of them.
 * @param random chooses what the clients do.
 * @param first the number of the first client.
 * @param maxExpireIn the longest time in milliseconds until rows expire. If it is 0, none do.
 * @param onEnd is called after each transaction.
 */
export async function recordTransactions(
  dbs,
  { random, first = 0, clients, transactions, maxExpireIn = 0, onEnd = () => undefined },
) {
  const history = [];
  let last = 0;

  async function client(number) {
    const db = dbs[number % dbs.length];
    for (let i = 0; i < transactions; i++) {
      if (random.below(3) === 0) await turn();
      history.push(await record(number, newRun(db)));
      onEnd();
    }
  }

  function newRun(db) {
    if (random.below(4) === 0) {
      // A call for several rows is one commit only in a transaction.
      const operation = newOperation(random.pick([...reads, ...writes]));
      return () => singleCall(db, operation);
    }
    const planned = Array.from({ length: 1 + random.below(3) }, () =>
      newOperation(random.pick(reads)),
    );
    if (random.below(4) > 0) planned.push(newOperation(random.pick(writes)));
    if (random.below(8) === 0) planned.push(newOperation(random.pick(predicateWrites)));
    if (random.below(4) === 0) planned.push(newOperation(random.pick(reads)));
    const pauses = planned.map(() => random.below(2) === 0);
    const aborts = random.below(12) === 0;
    return () => transaction(db, planned, { aborts, pauses });
  }

  function newOperation(type) {
    // A model with a ranked index has no rows that expire.
    const model = random.pick(["tasks", "notes"]);
    const operation = { type, model, id: random.pick(ids), list: random.pick(lists) };
    if (type === "count" && model === "notes" && random.below(2) === 0) operation.type = "ranked";
    if (type === "count" && model === "tasks" && random.below(3) === 0) operation.type = "all";
    if (type === "moveList") operation.to = random.pick(lists);
    operation.n = type === "create" ? ++last % 7 : 1 + random.below(3);
    const mayExpire = maxExpireIn > 0 && model === "tasks" && type === "create";
    if (mayExpire && random.below(2) === 0) operation.expireIn = 1 + random.below(maxExpireIn);
    return operation;
  }

  await Promise.all(Array.from({ length: clients }, (_, i) => client(first + i)));
  return history;
}

/** Records a transaction that reads everything. */
export async function recordEnd(db, client) {
  const planned = ["tasks", "notes"].flatMap((model) =>
    ["scan", "count", "sum"].flatMap((type) => lists.map((list) => ({ type, model, list }))),
  );
  return await record(client, () => transaction(db, planned));
}

async function record(client, run) {
  const startedAt = Date.now();
  const start = now();
  const done = await run();
  const end = now();
  return { client, start, end, startedAt, endedAt: Date.now(), ...done };
}

/** Nanoseconds of a clock that all processes of this machine share. */
export function now() {
  return Number(process.hrtime.bigint());
}

async function singleCall(db, operation) {
  try {
    return { operations: [await call(db, operation)] };
  } catch (error) {
    return failed(error, [{ ...operation, hasNoResult: true }]);
  }
}

/** Makes the same calls in each attempt, and keeps those of the one that is committed. */
async function transaction(db, planned, { aborts = false, pauses = [] } = {}) {
  let operations;
  try {
    await db.transaction(async (tx) => {
      operations = [];
      for (const [i, operation] of planned.entries()) {
        if (pauses[i]) await turn();
        operations.push(await call(tx, operation));
      }
      if (aborts) throw abort;
    });
    return { operations };
  } catch (error) {
    if (error === abort) return { operations, isAborted: true };
    return failed(error, operations);
  }
}

const abort = new Error("aborted");

async function call(target, operation) {
  const result = await calls[operation.type](target[operation.model], operation);
  return { ...operation, result };
}

function failed(error, operations) {
  if (error.code === "KW_COMMIT_AMBIGUOUS") return { operations, isUnknown: true };
  if (withoutEffect.has(error.code)) return { operations: [], isAborted: true };
  throw error;
}
