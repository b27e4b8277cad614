import { type EmbeddedKv, openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { createDatabase, type Database } from "../src/index.js";
import { verifyIndexes } from "../src/migrate.js";
import { copiedModels, expectCopiesToMatch } from "./copied-models.js";
import { Crash, crashingKv } from "./faulty-kv.js";
import { expectIndexesToMatch } from "./verify-indexes.js";
import { expectReferencesToHold } from "./verify-references.js";

type Db = Database<typeof copiedModels>;

/** A generator of numbers below `n` that depend on a seed: mulberry32. */
function randomOf(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return Math.floor((((t ^ (t >>> 14)) >>> 0) / 4294967296) * n);
  };
}

/** Does one random thing. Errors that plain use can cause are its result. */
async function step(db: Db, below: (n: number) => number): Promise<void> {
  const issueId = `i${below(4)}`;
  const other = `i${below(4)}`;
  const teamId = below(3) === 0 ? null : `t${below(2)}`;
  const labelId = `l${below(2)}`;
  const number = below(1000);
  const issue = { where: { id: issueId } };
  const team = { id: `t${below(2)}`, name: `name ${number}` };
  const calls: readonly (() => Promise<unknown>)[] = [
    () => db.issues.create({ data: { id: issueId, priority: number, teamId } }),
    () => db.issues.update({ ...issue, data: { priority: number } }),
    () => db.issues.update({ ...issue, data: { priority: number, title: `title ${number}` } }),
    () => db.issues.update({ ...issue, data: { teamId, parentId: other } }),
    () => db.issues.update({ ...issue, data: { parentId: below(2) === 0 ? null : issueId } }),
    () => db.issues.updateMany({ filter: () => true, data: { priority: { increment: 1 } } }),
    () => db.issues.delete(issue),
    () => db.teams.upsert({ where: { id: team.id }, create: team, update: { name: team.name } }),
    () => db.teams.update({ where: { id: team.id }, data: { name: team.name } }),
    () => db.teams.delete({ where: { id: team.id } }),
    () => db.issueLabels.create({ data: { issueId, labelId } }),
    () => db.issueLabels.update({ where: { issueId, labelId }, data: { note: `${number}` } }),
    () => db.issueLabels.delete({ where: { issueId, labelId } }),
    () =>
      db.issues.update({
        ...issue,
        data: {
          priority: number,
          labels: { connectOrCreate: { where: { id: labelId }, create: { id: labelId } } },
        },
      }),
    () => db.issues.update({ ...issue, data: { labels: { set: [] }, priority: number } }),
    () =>
      db.transaction(async (tx) => {
        await tx.issues.update({ ...issue, data: { priority: number } });
        await tx.issues.update({ where: { id: other }, data: { parentId: issueId } });
        await tx.issues.update({ ...issue, data: { priority: number + 1 } });
      }),
  ];
  await calls[below(calls.length)]!().catch((error: { code?: string }) => {
    const expected =
      /^KW_(ROW_NOT_FOUND|UNIQUE_CONSTRAINT|REFERENCE_MISSING|ROW_REFERENCED|VERSION_CONFLICT)$/;
    if (!expected.test(error.code ?? "") && !(error instanceof Crash)) throw error;
  });
}

async function openAll(kv: EmbeddedKv): Promise<Db> {
  return await createDatabase({ kv, models: copiedModels });
}

async function expectAllToMatch(kv: EmbeddedKv): Promise<void> {
  const db = await openAll(kv);
  await expectCopiesToMatch(db);
  await expectReferencesToHold(kv, copiedModels);
  for (const model of Object.values(copiedModels)) await expectIndexesToMatch(kv, model);
  expect((await verifyIndexes(db)).status).toBe("clean");
}

it("copies match after every write, whatever one program does", async () => {
  for (let seed = 1; seed <= 4; seed++) {
    const kv = await openKv();
    const db = await openAll(kv);
    await db.labels.createMany({ data: [{ id: "l0" }, { id: "l1" }] });
    const below = randomOf(seed);
    for (let i = 0; i < 150; i++) {
      await step(db, below);
      await expectCopiesToMatch(db);
    }
    await expectAllToMatch(kv);
    await kv.close();
  }
});

it("copies match after writes of several programs at once", async () => {
  for (let seed = 10; seed < 14; seed++) {
    const kv = await openKv();
    const databases = await Promise.all([openAll(kv), openAll(kv), openAll(kv), openAll(kv)]);
    await databases[0]!.labels.createMany({ data: [{ id: "l0" }, { id: "l1" }] });
    await Promise.all(
      databases.map(async (db, i) => {
        const below = randomOf(seed * 10 + i);
        for (let n = 0; n < 100; n++) await step(db, below);
      }),
    );
    await expectAllToMatch(kv);
    await kv.close();
  }
});

it("copies match after a crash before or after any commit", async () => {
  for (const moment of ["before", "after"] as const) {
    for (let at = 1; at <= 12; at++) {
      const kv = await openKv();
      await (await openAll(kv)).labels.createMany({ data: [{ id: "l0" }, { id: "l1" }] });
      const db = await openAll(crashingKv(kv, 4 * at, moment) as EmbeddedKv);
      const below = randomOf(at);
      for (let n = 0; n < 60; n++) await step(db, below);
      await expectAllToMatch(kv);
      await kv.close();
    }
  }
});
