import { measureCase } from "./measure-case.mjs";
import { openStore } from "./open-stores.mjs";

/** Stores with the same durability are compared when they write. */
const groups = ["full", "relaxed", "none"];

/**
 * Measures cases on contenders that hold `count` users. Each case first verifies that every
 * contender returns the right rows.
 *
 * @returns for each case, and for a case that writes for each durability, the nanoseconds of an
 * operation in each round by the name of the contender: `{ byId: { … }, "create, full": { … } }`.
 */
export async function runCases(cases, contenders, { folder, count, effort, note }) {
  const isWide = cases.some((each) => each.isWide);
  const hasOrders = cases.some((each) => each.hasOrders);
  const hasShop = cases.some((each) => each.hasShop);
  const stores = [];
  const figures = {};
  try {
    for (const contender of contenders) {
      note(`filling ${contender.name} with ${count} users`);
      stores.push(await openStore(contender, folder, count, { isWide, hasOrders, hasShop }));
    }
    for (const each of cases) {
      for (const [name, compared] of comparisons(each, stores)) {
        note(name);
        for (const { store, context } of compared) await each.verify(store, context);
        figures[name] = await measureCase(each, compared, effort);
      }
    }
  } finally {
    for (const { store } of stores) await store.close();
  }
  return figures;
}

function comparisons(each, stores) {
  const able = stores.filter(({ store }) => store[each.needs] !== undefined);
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
