import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as core from "@keywright/core";
import { sqliteEngine } from "../src/index.js";

export * from "@keywright/core";

const folder = mkdtempSync(join(tmpdir(), "keywright-sqlite-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
let files = 0;

/** `openKv`, which opens a new SQLite file instead of a database in memory. */
export async function openKv(
  where?: Parameters<typeof core.openKv>[0],
  options?: core.OpenKvOptions,
): Promise<core.EmbeddedKv> {
  const isInMemory = (where === undefined || where === ":memory:") && options === undefined;
  if (!isInMemory) return await core.openKv(where, options);
  const engine = await sqliteEngine({ path: join(folder, `${++files}.sqlite`) });
  // The tests end no process, and many disks sync slowly.
  return await core.openKv(engine, { durability: "relaxed" });
}
