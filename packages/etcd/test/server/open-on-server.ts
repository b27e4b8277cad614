import { randomUUID } from "node:crypto";
import * as core from "@keywright/core";
import { inject } from "vitest";
import { etcdEngine } from "../../src/index.js";

export * from "@keywright/core";

/** `openKv`, which opens a new database on the shared member instead of one in memory. */
export async function openKv(
  where?: Parameters<typeof core.openKv>[0],
  options?: core.OpenKvOptions,
): Promise<core.EmbeddedKv> {
  const others = Object.keys(options ?? {}).filter((name) => name !== "log");
  const isInMemory = (where === undefined || where === ":memory:") && others.length === 0;
  if (!isInMemory) return await core.openKv(where, options);
  const endpoints = inject("etcdEndpoints");
  return await core.openKv(await etcdEngine({ endpoints, prefix: randomUUID() }), options);
}
