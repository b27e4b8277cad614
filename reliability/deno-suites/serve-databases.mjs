import { createServer } from "node:http";
import { openKv } from "@keywright/core";
import { serve } from "@keywright/server";

/**
 * Starts a server on loopback whose answer to each request is the URL of a new server of Keywright,
 * with an empty database in memory.
 *
 * @returns `{ url, stop }`.
 */
export async function serveDatabases(token) {
  const served = [];
  const open = async () => {
    const kv = await openKv(":memory:", { compat: "deno" });
    const server = await serve(kv, { port: 0, tokens: [token] });
    served.push({ kv, server });
    return server.url;
  };
  const control = createServer((_request, response) => {
    open().then(
      (url) => response.end(url),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise((resolve) => {
    control.listen(0, "127.0.0.1", resolve);
  });
  const stop = async () => {
    control.close();
    for (const { kv, server } of served) {
      await server.close();
      await kv.close();
    }
  };
  return { url: `http://127.0.0.1:${control.address().port}`, stop };
}
