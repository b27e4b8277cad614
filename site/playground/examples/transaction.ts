import { openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import * as z from "zod";

const Account = defineModel({
  name: "accounts",
  schema: z.object({
    id: z.string(),
    balance: z.int().min(0),
  }),
  primaryKey: "id",
});

const kv = await openKv();
const db = await createDatabase({
  kv,
  models: { accounts: Account },
});
await db.accounts.createMany({
  data: [
    { id: "ada", balance: 100 },
    { id: "bob", balance: 0 },
  ],
});

async function transfer(
  from: string,
  to: string,
  amount: number,
) {
  await db.transaction(async ({ accounts }) => {
    await accounts.update({
      where: { id: to },
      data: { balance: { increment: amount } },
    });
    await accounts.update({
      where: { id: from },
      data: { balance: { increment: -amount } },
    });
  });
}

// Both change the same rows. One of them runs again.
await Promise.all([
  transfer("ada", "bob", 60),
  transfer("ada", "bob", 30),
]);
console.log((await db.accounts.scan()).items);

// Ada has too little. Bob gets nothing either.
await transfer("ada", "bob", 60).catch((error) => {
  console.log(error.code);
});
console.log((await db.accounts.scan()).items);
