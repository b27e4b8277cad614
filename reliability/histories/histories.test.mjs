import { openKv } from "@keywright/core";
import { describe, expect, it } from "vitest";
import { faults } from "./faulty-kv.mjs";
import { transactionFaults } from "./faulty-transactions.mjs";
import { checkNewHistory, databases, inPlace } from "./histories.mjs";
import { places } from "./transaction-places.mjs";

const seed = Date.now();
const histories = 50;
/** The numbers of histories of transactions. */
const counts = {
  ...{
    memory: 5,
    leveldb: 5,
    lmdb: 2,
    sqlite: 2,
    attached: 2,
    etcd: 2,
    "etcd-killed": 1,
    postgres: 2,
  },
  "postgres-killed": 2,
};

describe.each(Object.entries(databases))("the histories of a database %s", (_name, open) => {
  it("are strictly serializable", async () => {
    for (let i = 0; i < histories / 2; i++) {
      const { problems } = await checkNewHistory(open, seed + i);
      expect(problems, `seed ${seed + i}`).toEqual([]);
    }
  });
});

describe("the check of histories", () => {
  it.each(Object.entries(faults))("finds %s", async (_name, faulty) => {
    let found = [];
    for (let i = 0; i < histories && found.length === 0; i++)
      found = (await checkNewHistory(async () => faulty(await openKv()), seed + i)).problems;
    expect(found).not.toEqual([]);
  });
});

describe("transactions are strictly serializable, also if they read and write by predicates", () => {
  for (const [engine, count] of Object.entries(counts)) {
    const { isInstalled = true, title, ...place } = places[engine];
    const name = isInstalled ? title : `${title}, which this Node.js or machine does not have`;
    it.concurrent.skipIf(!isInstalled)(name, async () => {
      await inPlace(place, async (check) => {
        for (let i = 0; i < count; i++) {
          const { isSerializable, problem } = await check(seed + i);
          expect(isSerializable, `seed ${seed + i}: ${problem}`).toBe(true);
        }
      });
    });
  }
});

describe("the check of transactions", () => {
  it("accepts commits of unknown outcome that are made or not", async () => {
    const checked = await checkFirst("unknown outcomes", 5);
    expect(checked.map(({ isSerializable }) => isSerializable)).not.toContain(false);
    expect(checked.some(({ unknown }) => unknown > 0)).toBe(true);
  });

  it.concurrent.each(Object.keys(transactionFaults))("finds %s", async (fault) => {
    const checked = await checkFirst(fault, 1000);
    expect(checked.at(-1).isSerializable).toBe(false);
  });
});

/** Checks histories in memory until one is wrong. */
async function checkFirst(fault, most) {
  const checked = [];
  const start = () => ({
    newDatabase: async () => ({ where: { fault, maxExpireIn: 12 } }),
    stop: async () => undefined,
  });
  await inPlace({ start, maxTransactions: 12 }, async (check) => {
    for (let i = 0; i < most && checked.at(-1)?.isSerializable !== false; i++)
      checked.push(await check(seed + i));
  });
  return checked;
}
