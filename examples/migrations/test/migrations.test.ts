import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openKv } from "@keywright/core";
import { createDatabase } from "@keywright/orm";
import { verifyIndexes } from "@keywright/orm/migrate";
import { expect, it } from "vitest";
import { fourthCustomer } from "../src/models.js";
import { firstRelease, fourthRelease, secondRelease, thirdRelease } from "../src/releases.js";

it("keeps every customer and every index entry through all releases", async () => {
  await using kv = await openKv();
  await firstRelease(kv, 2000);
  await secondRelease(kv);
  await thirdRelease(kv);
  await fourthRelease(kv);
  const db = await createDatabase({ kv, models: { customers: fourthCustomer } });
  expect(await db.customers.count()).toBe(1998);
  expect(
    await db.customers.findUnique({ where: { email: "customer8@example.com" } }),
  ).toMatchObject({ spentCents: 100, newsletter: false });
  for await (const _ of kv.list({ prefix: ["customers_by_name"] })) expect.unreachable();
  expect((await verifyIndexes(db)).status).toBe("clean");
});

it("prints what happens", async () => {
  const program = fileURLToPath(new URL("../dist/main.js", import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [program, "3000"]);
  expect(stdout).toContain(
    "3 emails have two customers. Deleting the second customer of each\nFound by byEmail: Customer 1, spent 0.13\n",
  );
  expect(stdout).toContain("as the new model: Customer 1, 13 cents\n");
  expect(stdout).toContain("Before the migration, by the copies: customer1@example.com\n");
  expect(stdout).toContain("After it, by the pointers: customer1@example.com\n");
  expect(stdout).toMatch(/Verified: clean, 2997 rows and 8991 index entries\n$/);
});
