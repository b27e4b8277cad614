import { type Kv, openKv } from "@keywright/core";
import { createDatabase, UniqueConstraintError } from "@keywright/orm";
import * as byColor from "./by-hand/non-unique-index.js";
import * as byEmail from "./by-hand/unique-index.js";
import { User } from "./user.js";

const ada = { id: "1", name: "Ada", email: "Ada@example.com", favoriteColor: "green" };
const bob = { id: "2", name: "Bob", email: "bob@example.com", favoriteColor: "green" };

console.log("By hand, on the core");
await using kv = await openKv();
await byEmail.insertUser(kv, ada);
await byEmail.insertUser(kv, { ...bob, email: "ADA@example.com" }).catch((error: Error) => {
  console.log("  a second ada@example.com:", error.message);
});
console.log("  by id:", (await byEmail.getUser(kv, "1"))?.name);
console.log("  by email:", (await byEmail.getUserByEmail(kv, "ADA@EXAMPLE.COM"))?.name);
await Promise.all([byEmail.deleteUser(kv, "1"), byEmail.deleteUser(kv, "1")]);
console.log("  after the delete:", await byEmail.getUserByEmail(kv, "ada@example.com"));
await byColor.insertUser(kv, ada);
await byColor.insertUser(kv, bob);
await printNames("  who likes green:", byColor.getUsersByFavoriteColor(kv, "green"));

console.log("The same through a model");
await using modelKv = await openKv();
await throughModel(modelKv);

async function throughModel(kv: Kv): Promise<void> {
  const db = await createDatabase({ kv, models: { users: User } });
  await db.users.create({ data: ada });
  await db.users.create({ data: { ...bob, email: "ADA@example.com" } }).catch((error: unknown) => {
    if (!(error instanceof UniqueConstraintError)) throw error;
    console.log(`  ${error.message} (user ${error.ownerId})`);
  });
  console.log("  by id:", (await db.users.findUnique({ where: { id: "1" } }))?.name);
  const found = await db.users.findUnique({ where: { email: "ADA@EXAMPLE.COM" } });
  console.log("  by email:", found?.name);
  await db.users.create({ data: bob });
  const green = db.users.findMany({ where: { favoriteColor: "green" } });
  await printNames(
    "  who likes green:",
    green.then((page) => page.items),
  );
  await db.users.delete({ where: { email: "ada@example.com" } });
  console.log("  after the delete:", await db.users.findUnique({ where: { id: "1" } }));
}

async function printNames(label: string, users: Promise<{ name: string }[]>): Promise<void> {
  console.log(label, (await users).map(({ name }) => name).join(", "));
}
