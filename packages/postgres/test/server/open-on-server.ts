import * as core from "@keywright/core";
import { postgresEngine } from "../../src/index.js";
import { newTable } from "./shared-server.js";

export * from "@keywright/core";

/** `openKv`, which opens a new database on the shared server instead of one in memory. */
export async function openKv(
  where?: Parameters<typeof core.openKv>[0],
  options?: core.OpenKvOptions,
): Promise<core.EmbeddedKv> {
  const others = Object.keys(options ?? {}).filter((name) => name !== "log");
  const isInMemory = (where === undefined || where === ":memory:") && others.length === 0;
  return await core.openKv(isInMemory ? await postgresEngine(newTable()) : where, options);
}
