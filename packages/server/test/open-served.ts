import * as core from "@keywright/core";
import { serve } from "../src/index.js";

export * from "@keywright/core";

const token = "0123456789abcdef";

/** `openKv`, which opens the URL of a server of a new database in memory, which may keep a log. */
export async function openKv(
  where?: Parameters<typeof core.openKv>[0],
  options?: core.OpenKvOptions,
): Promise<core.EmbeddedKv> {
  const { log, ...others } = options ?? {};
  const isInMemory = where === undefined || where === ":memory:";
  if (!isInMemory || Object.keys(others).length > 0) return await core.openKv(where, options);
  const own = await core.openKv(":memory:", { log });
  const server = await serve(own, { port: 0, tokens: [token], maxBodyBytes: 2 ** 30 });
  const kv = await core.openKv(server.url, { token });
  const close = kv.close.bind(kv);
  kv.close = async () => {
    await close();
    await server.close();
    await own.close();
  };
  return kv;
}
