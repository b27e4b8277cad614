import { serve } from "@hono/node-server";
import { openKv } from "@keywright/core";
import { createApp } from "./app.js";
import { openDatabase } from "./database.js";

// One database for the process. All requests share it.
const kv = await openKv("./data");
const port = Number(process.env["PORT"] ?? 3000);
const server = serve({ fetch: createApp(await openDatabase(kv)).fetch, port });
console.log(`http://localhost:${port}/rooms/lobby/messages`);

// Live queries never end by themselves, so their connections are closed too.
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, () => {
    server.close(() => void kv.close());
    if ("closeAllConnections" in server) server.closeAllConnections();
  });
}
