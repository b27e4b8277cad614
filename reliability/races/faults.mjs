import { faults as ofHistories } from "../histories/faulty-kv.mjs";

/** Databases with a planted fault each, the scenario that has to find it, and how. */
export const faults = {
  "a lost update": [
    "commits",
    ofHistories["a lost update: some checks are not made"],
    /a check did not hold/,
  ],
  "an update of a transaction that is lost": [
    "transactions",
    withoutChecks,
    /increments instead of/,
  ],
  "an index entry that is not written": ["backfill", withoutSomeEntries, /the indexes are damaged/],
  "a watch that ends its reports early": [
    "watches",
    watchingOnce,
    /did not deliver the last state/,
  ],
  "a message that is acknowledged and not stored": [
    "queue",
    (kv) => losing(kv, "enqueue"),
    /was not delivered/,
  ],
  "a commit that is acknowledged and not made": [
    "close",
    (kv) => losing(kv, "set"),
    /acknowledged value \d is missing/,
  ],
  "a call that fails with another error": ["close", failingUntyped, /failed with RangeError/],
};

function withoutChecks(kv) {
  return changed(kv, "atomic", (atomic) => () => {
    const operation = atomic();
    operation.check = () => operation;
    return operation;
  });
}

function withoutSomeEntries(kv) {
  let writes = 0;
  return changed(kv, "atomic", (atomic) => () => {
    const operation = atomic();
    const set = operation.set.bind(operation);
    operation.set = (key, ...rest) =>
      key[0] === "players_by_team" && ++writes % 4 === 0 ? operation : set(key, ...rest);
    return operation;
  });
}

function watchingOnce(kv) {
  return changed(kv, "watch", (watch) => (keys) => {
    const source = watch(keys).getReader();
    let reads = 0;
    return new ReadableStream({
      pull: async (controller) => {
        const { value } = await source.read();
        if (reads++ < 1) controller.enqueue(value);
      },
      cancel: () => source.cancel(),
    });
  });
}

function losing(kv, name) {
  let calls = 0;
  return changed(kv, name, (call) => async (...args) => {
    if (++calls % 2 === 0) await call(...args);
  });
}

function failingUntyped(kv) {
  return changed(kv, "get", () => () => Promise.reject(new RangeError("no")));
}

function changed(kv, name, change) {
  kv[name] = change(kv[name].bind(kv));
  return kv;
}
