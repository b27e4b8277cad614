// The databases that are compared, with the same users in them.
import { join } from "node:path";
import { openByHand, openDeno } from "./by-hand.mjs";
import { openDrizzle } from "./drizzle.mjs";
import { openKeywright } from "./keywright.mjs";
import { users } from "./rows.mjs";

/** Makes all of them in a folder, and opens them. */
export async function openDatabases(folder) {
  const orm = await makeAndReopen(openKeywright, join(folder, "orm"));
  const hand = await makeAndReopen(openByHand, join(folder, "by-hand"));
  const deno = await openDeno(join(folder, "deno.sqlite"));
  await deno.load(users);
  const built = openDrizzle(join(folder, "built.sqlite"), "built");
  const prepared = openDrizzle(join(folder, "prepared.sqlite"), "prepared");
  for (const drizzle of [built, prepared]) drizzle.load(users);
  await assertAlike([orm.relaxed, hand.relaxed, built, prepared]);
  return {
    orm,
    hand,
    deno,
    built,
    prepared,
    close: async () => {
      for (const { relaxed, full } of [orm, hand])
        await Promise.all([relaxed.close(), full.close()]);
      await deno.close();
      for (const drizzle of [built, prepared]) drizzle.close();
    },
  };
}

/**
 * Opens a handle for each durability. The loaded rows are then in LevelDB's files, no longer in its
 * log.
 */
async function makeAndReopen(open, path) {
  const made = await open(path, "relaxed");
  await made.load(users);
  await made.close();
  return { relaxed: await open(path, "relaxed"), full: await open(path, "full") };
}

/** Before anything is measured: each finds the same, and writes what it is told to. */
async function assertAlike(candidates) {
  const user = users[4321];
  const wanted = users.filter(({ favoriteColor }) => favoriteColor === user.favoriteColor);
  for (const { findById, findByEmail, findByColor, changeColor } of candidates) {
    await changeColor(user.id, "another");
    assertSame(await findByColor("another"), [{ ...user, favoriteColor: "another" }]);
    await changeColor(user.id, user.favoriteColor);
    assertSame(await findById(user.id), user);
    assertSame(await findByEmail(user.email), user);
    assertSame(await findByColor(user.favoriteColor), wanted);
  }
}

function assertSame(found, wanted) {
  if (JSON.stringify(found) !== JSON.stringify(wanted))
    throw new Error(`found ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`);
}
