import { type EmbeddedKv, openKv } from "@keywright/core";
import { createDatabase, defineMigration, defineModel, migrate } from "@keywright/orm";
import * as z from "zod";

const first = z.object({ id: z.string(), score: z.string(), note: z.string().optional() });
const second = z.object({ id: z.string(), score: z.int(), level: z.int() });
const name = "players";

/** The models before the migration, and after it. */
export const before = { players: defineModel({ name, schema: first, primaryKey: "id" }) };
export const after = {
  players: defineModel({
    ...{ name, schema: second, primaryKey: "id" },
    indexes: { byScore: { key: "score" } },
  }),
};

const change = {
  model: after.players,
  name: "scores are numbers",
  from: first,
  to: second,
  up: ({ id, score }: z.output<typeof first>) => ({ id, score: Number(score), level: 1 }),
};
export const reversible = defineMigration({
  ...change,
  down: ({ id, score }: z.output<typeof second>) => ({ id, score: String(score) }),
});
export const irreversible = defineMigration(change);

/** A database whose rows were migrated. The options open it with the models before. */
export async function openMigrated(rows: number): Promise<EmbeddedKv> {
  const kv = await openKv();
  const old = await createDatabase({ kv, models: before });
  const data = Array.from({ length: rows }, (_, i) => ({ id: idOf(i), score: String(i) }));
  await old.players.createMany({ data });
  const db = await createDatabase({ kv, models: after, migrations: [reversible] });
  const { status } = await migrate(db);
  if (status !== "done") throw new Error(`The migration ended as ${status}.`);
  return kv;
}

export function idOf(player: number): string {
  return `player-${String(player).padStart(6, "0")}`;
}
