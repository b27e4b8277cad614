// The databases that are compared. All hold the same users.
import { join } from "node:path";
import { openByHand, openDeno } from "./by-hand.mjs";
import { openDrizzle } from "./drizzle.mjs";
import { openKeywright } from "./keywright.mjs";
import { users } from "./rows.mjs";

/** Creates all databases in a folder and opens them. */
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
 * Loads a database and opens it again, once for each durability. Opening moves what was loaded from
 * LevelDB's log to its files.
 */
async function makeAndReopen(open, path) {
  const made = await open(path, "relaxed");
  await made.load(users);
  await made.close();
  return { relaxed: await open(path, "relaxed"), full: await open(path, "full") };
}

/** Throws before the measurement if a database does not find or write the same as the others. */
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
    throw new Error(`A database returned ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}.`);
}
