import { type Kv, type KvKey, type OpenKvOptions, openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import * as z from "zod";
import { createProject, type Project } from "./project.js";

/** Rows as the first release of a project has them. */
export interface Player {
  readonly id: string;
  readonly team: string;
  readonly score: string;
}

/** The configuration of a project whose database is in `data`. */
export function playersConfig(settings = "", imports = ""): string {
  return `import { openKv } from "@keywright/core";
${imports}
export default {
  models: "models/*.ts",
  output: "db",
  database: () => openKv(new URL("./data", import.meta.url).pathname),
  ${settings}
};
`;
}

/** The module of the model `players`. */
export function playersModule(indexes: string, schema: string = firstSchema): string {
  return `import { defineModel } from "@keywright/orm";
import * as z from "zod";

export const Player = defineModel({
  name: "players",
  schema: ${schema},
  primaryKey: "id",
  indexes: ${indexes},
});
`;
}

const firstSchema = "z.object({ id: z.string(), team: z.string(), score: z.string() })";

/**
 * A project whose database has the rows of its first release, and whose model has got these indexes
 * since.
 */
export async function playersProject(
  rows: readonly Player[],
  indexes: string,
  files: Readonly<Record<string, string>> = {},
): Promise<Project> {
  const project = await createProject({
    "keywright.config.ts": playersConfig(),
    "models/player.ts": playersModule(indexes),
    ...files,
  });
  await withDatabase(project, async (kv) => {
    const schema = z.object({ id: z.string(), team: z.string(), score: z.string() });
    const players = defineModel({
      name: "players",
      schema,
      primaryKey: "id",
      indexes: { byTeam: { key: "team" } },
    });
    const db = await createDatabase({ kv, models: { players } });
    for (let at = 0; at < rows.length; at += 500) {
      await db.players.createMany({ data: rows.slice(at, at + 500) });
    }
  });
  return project;
}

/** Opens the project's database beside no command, and closes it. */
export async function withDatabase<T>(
  project: Project,
  use: (kv: Kv) => Promise<T>,
  options: OpenKvOptions = {},
): Promise<T> {
  const kv = await openKv(project.path("data"), options);
  try {
    return await use(kv as Kv);
  } finally {
    await kv.close();
  }
}

/** Everything that is in the project's database, and when it was written. */
export async function contents(project: Project, prefix: KvKey = []): Promise<unknown[]> {
  return await withDatabase(project, async (kv) => {
    const entries: unknown[] = [];
    for await (const entry of kv.list({ prefix })) entries.push(entry);
    return entries;
  });
}

/** Players in ten teams. */
export function players(count: number): Player[] {
  return Array.from({ length: count }, (_, i) => ({
    id: String(i).padStart(5, "0"),
    team: `team ${i % 10}`,
    score: String(i),
  }));
}
