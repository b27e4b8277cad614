import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKv, verifyFiles } from "@keywright/core";
import { createDatabase } from "@keywright/orm";
import { models, userOf } from "./example.js";

export const userCount = 3000;

/** A database in a folder of its own, whose rows are in a table file. */
export interface FolderDatabase extends AsyncDisposable {
  readonly path: string;
  /** Overwrites a block in the middle of the table, which has rows of users. Returns its name. */
  damage(): Promise<string>;
}

export async function createFolderDatabase(): Promise<FolderDatabase> {
  const parent = await mkdtemp(join(tmpdir(), "keywright-studio-"));
  const path = join(parent, "data");
  await withDatabase(path, async (db) => {
    const data = Array.from({ length: userCount }, (_, i) => userOf(i));
    await db.users.createMany({ data });
  });
  // LevelDB writes the log to a table when it opens the database again.
  await withDatabase(path, async () => undefined);
  return {
    path,
    damage: async () => {
      const table = (await readdir(path)).find((name) => name.endsWith(".ldb"));
      if (table === undefined) throw new Error("There is no table.");
      const bytes = await readFile(join(path, table));
      bytes[Math.floor(bytes.length / 2)]! ^= 0xff;
      await writeFile(join(path, table), bytes);
      // The length at the beginning of the block is not valid either, so that no read decodes it.
      const [place] = (await verifyFiles(path)).damages;
      bytes.fill(0xff, place!.offset, place!.offset + 16);
      await writeFile(join(path, table), bytes);
      return table;
    },
    [Symbol.asyncDispose]: () => rm(parent, { recursive: true, force: true }),
  };
}

async function withDatabase(
  path: string,
  use: (db: Awaited<ReturnType<typeof openModels>>) => Promise<void>,
): Promise<void> {
  await using kv = await openKv(path, { durability: "relaxed" });
  await use(await openModels(kv));
}

function openModels(kv: Awaited<ReturnType<typeof openKv>>) {
  return createDatabase({ kv, models });
}
