import { type EmbeddedKv, KvU64, openKv } from "@keywright/core";
import { expect, it, vi } from "vitest";
import * as z from "zod";
import { belongsTo, createDatabase, defineModel, desc, hasMany, migrate } from "../src/index.js";

const Team = defineModel({
  name: "teams",
  schema: z.object({ id: z.string(), name: z.string() }),
  primaryKey: "id",
  indexes: { byName: { key: "name" } },
  relations: { players: hasMany("players", "teamId") },
});

const Player = defineModel({
  name: "players",
  schema: z.object({
    id: z.string(),
    teamId: z.string().nullable(),
    email: z.email(),
    tags: z.array(z.string()),
    score: z.int().optional(),
    born: z.date(),
  }),
  primaryKey: "id",
  count: true,
  live: true,
  indexes: {
    byEmail: { key: "email", unique: true, normalize: (email) => email.toLowerCase() },
    byTag: { key: "tags", each: true },
    byScore: { key: [desc("score"), "born"], include: ["email"] },
    byTeam: { key: "teamId", store: "copy", count: true },
  },
  relations: { team: belongsTo("teams", "teamId", { onDelete: "cascade" }) },
});

async function entriesOf(kv: EmbeddedKv): Promise<unknown[]> {
  const entries: unknown[] = [];
  for await (const { key, value, expireAt } of kv.list({ prefix: [] })) {
    entries.push({ key, value, ...(expireAt !== undefined && { expireAt: "set" }) });
  }
  return entries;
}

function asJson(entries: unknown[]): string {
  const replacer = function (this: Record<string, unknown>, name: string, value: unknown) {
    const original = this[name];
    if (original instanceof Date) return { date: original.getTime() };
    if (original instanceof KvU64) return { u64: String(original.value) };
    if (original instanceof Uint8Array) return { bytes: Buffer.from(original).toString("hex") };
    return typeof value === "bigint" ? { bigint: String(value) } : value;
  };
  return `${JSON.stringify(entries, replacer, 2)}\n`;
}

it("rows, index entries and the records of a database are stored as they always were", async () => {
  const kv = await openKv();
  try {
    const db = await createDatabase({ kv, models: { teams: Team, players: Player } });
    await migrate(db);
    await db.teams.create({ data: { id: "t", name: "Reds" } });
    await db.teams.create({ data: { id: "u", name: "Blues" }, expireIn: 1e9 });
    const player = { email: "Ada@example.com", tags: ["a", "b"], born: new Date(86_400_000) };
    await db.players.create({ data: { id: "p", teamId: "t", score: 3, ...player } });
    await db.players.create({
      data: { ...player, id: "q", teamId: null, email: "q@example.com" },
    });
    await expect(asJson(await entriesOf(kv))).toMatchFileSnapshot("golden/stored-records.json");
  } finally {
    await kv.close();
  }
});

it("the records of counted rows that expire are stored as they always were", async () => {
  vi.useFakeTimers({ toFake: ["Date"], now: 1_800_000_000_000 });
  const kv = await openKv();
  try {
    const Session = defineModel({
      name: "sessions",
      schema: z.object({ id: z.string(), user: z.string() }),
      primaryKey: "id",
      count: true,
      indexes: { byUser: { key: "user", count: true } },
    });
    const db = await createDatabase({ kv, models: { sessions: Session } });
    await db.sessions.create({ data: { id: "s", user: "ada" }, expireIn: 1000 });
    await expect(asJson(await entriesOf(kv))).toMatchFileSnapshot("golden/counted-rows.json");
  } finally {
    vi.useRealTimers();
    await kv.close();
  }
});
