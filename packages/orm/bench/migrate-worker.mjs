// One job of `npm run bench:migrate`, in a separate process: `migrate-worker.mjs <job> <path>
// <rows>`. Prints JSON.
import { openKv } from "@keywright/core";
import { createDatabase, defineModel, migrate } from "@keywright/orm";
import * as z from "zod";

const [job, path, rowsText] = process.argv.slice(2);
const rows = Number(rowsText);
const batch = 500;
const writers = 16;

const schema = z.object({
  id: z.ulid(),
  name: z.string(),
  favoriteColor: z.string(),
  age: z.int(),
});
const before = defineModel({ name: "users", schema, primaryKey: "id" });
const after = defineModel({
  name: "users",
  schema,
  primaryKey: "id",
  indexes: { byFavoriteColor: { key: "favoriteColor" } },
});

const kv = await openKv(path);
const jobs = { fill, build, write, "build-by-hand": buildByHand };
const measured = await jobs[job]();
await kv.close();
console.log(JSON.stringify({ ...measured, peakMiB: process.resourceUsage().maxRSS / 1024 }));

function user(i) {
  return { name: `User ${i}`, favoriteColor: `color ${i % 1000}`, age: i % 90 };
}

async function fill() {
  const db = await createDatabase({ kv, models: { users: before } });
  const size = 5000;
  for (let done = 0; done < rows; done += size) {
    await db.users.createMany({ data: Array.from({ length: size }, (_, i) => user(done + i)) });
  }
  return {};
}

/** What somebody would write who does without the ORM, and stops the writers meanwhile. */
async function buildByHand() {
  const start = performance.now();
  let entries = 0;
  let operation = kv.atomic();
  for await (const { key, value } of kv.list({ prefix: ["users"] }, { batchSize: batch })) {
    const id = key[1];
    operation.set(["users_by_favorite_color", value.favoriteColor, id], id);
    if (++entries % batch !== 0) continue;
    await operation.commit();
    operation = kv.atomic();
  }
  await operation.commit();
  return { entries, seconds: secondsSince(start) };
}

async function build() {
  const db = await createDatabase({ kv, models: { users: after } });
  const phases = {};
  let last = performance.now();
  const start = last;
  const onProgress = ({ phase }) => {
    const now = performance.now();
    phases[phase] = (phases[phase] ?? 0) + (now - last) / 1000;
    last = now;
  };
  const { status } = await migrate(db, { onProgress });
  if (status !== "done") throw new Error(`the migration ended as ${status}`);
  const seconds = secondsSince(start);
  return { entries: await db.users.count(), seconds, phases };
}

/** How many commits a second 16 writers make, alone and beside a build. */
async function write() {
  const db = await createDatabase({ kv, models: { users: after } });
  const alone = await whileWriting(db, () => new Promise((done) => setTimeout(done, 3000)));
  const beside = await whileWriting(db, async () => {
    const { status } = await migrate(db);
    if (status !== "done") throw new Error(`the migration ended as ${status}`);
  });
  return { alone, beside, ratio: beside.perSecond / alone.perSecond };
}

async function whileWriting(db, task) {
  let commits = 0;
  let isOver = false;
  const start = performance.now();
  const writing = Array.from({ length: writers }, async (_, writer) => {
    while (!isOver) {
      const row = await db.users.create({ data: user(writer) });
      await db.users.update({ where: { id: row.id }, data: { favoriteColor: "another" } });
      await db.users.delete({ where: { id: row.id } });
      commits += 3;
    }
  });
  await task();
  isOver = true;
  const seconds = secondsSince(start);
  await Promise.all(writing);
  return { commits, seconds, perSecond: commits / seconds };
}

function secondsSince(start) {
  return (performance.now() - start) / 1000;
}
