import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { StoreProcess } from "./store-process.mjs";

/** Stores with the same durability are compared when they write. */
const groups = ["full", "relaxed", "none"];
const ownStores = fileURLToPath(new URL("store.mjs", import.meta.url));

/**
 * Measures cases on contenders that hold `count` users. Each contender has a process of its own.
 * After all are filled, only one of them works at a time. They take turns in each round, so that
 * other load on the machine affects all of them alike. Each case first verifies that every
 * contender returns the right rows.
 *
 * @param effort the number of rounds that are measured, after one that is not, and the milliseconds
 *   of a contender in each round.
 * @param program the program of the processes; it calls `serveStore`.
 * @returns for each case, and for a case that writes for each durability, the nanoseconds of an
 *   operation in each round by the name of the contender: `{ byId: { … }, "create, full": { … } }`.
 * @throws {Error} if a contender fails or its process ends. The message begins with its name, or
 *   contains it. All processes are ended before.
 */
export async function runCases(
  cases,
  contenders,
  { folder, count, effort, note, program = ownStores },
) {
  const parts = {
    isWide: cases.some((each) => each.isWide === true),
    hasOrders: cases.some((each) => each.hasOrders === true),
    hasShop: cases.some((each) => each.hasShop === true),
  };
  const stores = [];
  const figures = {};
  try {
    for (const contender of contenders) stores.push(new StoreProcess(contender, program));
    await inParallel(stores, async (store) => {
      note(`filling ${store.contender.name} with ${count} users`);
      await store.open(folder, count, parts);
    });
    for (const each of cases) {
      for (const [name, compared] of comparisons(each, stores)) {
        note(name);
        figures[name] = await measureCase(each, compared, effort);
      }
    }
    for (const store of stores) await store.close();
  } finally {
    for (const store of stores) await store.kill();
  }
  return figures;
}

/** Nothing is measured yet, so all cores can work. */
async function inParallel(stores, open) {
  const waiting = stores.values();
  const openInTurn = async () => {
    for (const store of waiting) await open(store);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, openInTurn));
}

async function measureCase({ name }, stores, { rounds, milliseconds }) {
  for (const store of stores) await store.prepare(name);
  const times = Object.fromEntries(stores.map(({ contender }) => [contender.name, []]));
  for (let round = 0; round <= rounds; round++) {
    for (const store of stores) {
      const time = await store.measure(name, milliseconds);
      if (round > 0) times[store.contender.name].push(time);
    }
  }
  return times;
}

function comparisons(each, stores) {
  const able = stores.filter(({ methods }) => methods.includes(each.needs));
  if (each.isWrite !== true) {
    // Durability makes no difference to reads.
    const once = able.filter(({ contender }) => !contender.name.endsWith("-relaxed"));
    return once.length === 0 ? [] : [[each.name, once]];
  }
  return groups.flatMap((durability) => {
    const same = able.filter(({ contender }) => contender.durability === durability);
    return same.length === 0 ? [] : [[`${each.name}, ${durability}`, same]];
  });
}
