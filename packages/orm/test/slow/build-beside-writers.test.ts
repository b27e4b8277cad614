import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKv } from "@keywright/core";
import { afterEach, beforeEach, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel, migrate } from "../../src/index.js";
import { verifyIndexes } from "../../src/migrate.js";
import { expectIndexesToMatch } from "../verify-indexes.js";

/** `npm run soak:migrate` takes 100,000. */
const rows = Number(process.env.KEYWRIGHT_SOAK_ROWS ?? 4000);
const writers = 16;

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "keywright-build-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const schema = z.object({ id: z.ulid(), email: z.string(), team: z.string(), score: z.int() });
const before = defineModel({ name: "players", schema, primaryKey: "id" });
const after = defineModel({
  name: "players",
  schema,
  primaryKey: "id",
  indexes: {
    byEmail: { key: "email", unique: true },
    byTeamAndScore: { key: ["team", "score"] },
  },
});

it("builds two indexes while 16 programs write, which see no error", async () => {
  await using kv = await openKv(folder, { durability: "relaxed" });
  const old = await createDatabase({ kv, models: { players: before } });
  const ids: string[] = [];
  for (let done = 0; done < rows; done += 4000) {
    const data = Array.from({ length: 4000 }, (_, i) => player(done + i));
    const { results } = await old.players.createMany({ data });
    for (const result of results) if ("row" in result) ids.push(result.row.id);
  }
  const db = await createDatabase({ kv, models: { players: after } });
  let isOver = false;
  let written = 0;
  const write = async (writer: number) => {
    for (let round = 0; !isOver; round++) {
      const created = await db.players.create({ data: player(`${writer}-${round}`) });
      const id = ids[(writer + round * writers * 7919) % rows] ?? "";
      await db.players.update({ where: { id }, data: { team: `team ${round % 5}`, score: round } });
      await db.players.update({ where: { id: created.id }, data: { email: `${writer} ${round}` } });
      if (round % 2 === 0) await db.players.delete({ where: { id: created.id } });
      written += 4;
    }
  };
  const writing = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)));
  const progress: string[] = [];
  const result = await migrate(db, { onProgress: ({ phase }) => progress.push(phase) });
  isOver = true;
  await writing;
  expect(result).toMatchObject({ status: "done", unindexed: [] });
  expect([...new Set(progress)]).toEqual(["counting", "building", "verifying"]);
  expect(written).toBeGreaterThan(writers * 4);
  expect((await verifyIndexes(db)).status).toBe("clean");
  await expectIndexesToMatch(kv, after);
}, 600_000);

function player(name: number | string) {
  return { email: `${name}@example.com`, team: `team ${String(name).length}`, score: 0 };
}
