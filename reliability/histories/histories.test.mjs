import { openKv } from "@keywright/core";
import { describe, expect, it } from "vitest";
import { faults } from "./faulty-kv.mjs";
import { transactionFaults } from "./faulty-transactions.mjs";
import {
  checkNewHistory,
  checkNewTransactions,
  databases,
  transactionDatabases,
} from "./histories.mjs";

const seed = Date.now();
const histories = 50;

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

describe.each(Object.entries(transactionDatabases))("transactions %s", (_name, { open, part }) => {
  it("are strictly serializable, also if they read and write by predicates", async () => {
    for (let i = 0; i < histories * part; i++) {
      const { isSerializable, problem } = await checkNewTransactions(open, seed + i);
      expect(isSerializable, `seed ${seed + i}: ${problem}`).toBe(true);
    }
  });
});

describe("the check of transactions", () => {
  it.concurrent.each(Object.entries(transactionFaults))("finds %s", async (_name, faulty) => {
    const isFound = async (i) => {
      const kv = await openKv();
      const found = await checkNewTransactions(async () => faulty(kv), seed + i);
      return found.isSerializable === false;
    };
    let found = false;
    for (let i = 0; i < 10 * histories && !found; i++) found = await isFound(i);
    expect(found).toBe(true);
  });
});
