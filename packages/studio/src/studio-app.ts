import { fileURLToPath } from "node:url";
import { serveStatic } from "@hono/node-server/serve-static";
import { KvU64 } from "@keywright/core";
import { Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { HTTPException } from "hono/http-exception";
import type { Guard } from "./access/guard.js";
import { studioCalls } from "./calls/studio-calls.js";
import { encodeValues } from "./protocol/encode-values.js";
import { decode } from "./protocol/wire.js";
import type { Source } from "./source/source.js";
import { studioError } from "./source/studio-error.js";
import { changesStream } from "./streams/changes.js";
import { exportStream } from "./streams/export-rows.js";
import { feedStream } from "./streams/feed.js";
import { workStream } from "./streams/work.js";

const maxBody = 8 * 1024 * 1024;

/** Returns the HTTP application, and a function that ends its streams and its job. */
export function studioApp(
  source: Source,
  guard: Guard,
): { readonly app: Hono; close(): Promise<void> } {
  const ending = new AbortController();
  const { calls, close } = studioCalls(source);
  const app = new Hono();
  app.use(guard.check);
  app.onError((error, context) => {
    if (error instanceof HTTPException) return error.getResponse();
    return context.text(encodeValues(studioError(source, error)), 400);
  });
  app.post("/api/:name", bodyLimit({ maxSize: maxBody }), async (context) => {
    const call = calls.get(context.req.param("name"));
    if (call === undefined) return context.text("There is no such call.", 404);
    const input = decode(await context.req.text(), (value) => new KvU64(value));
    return context.text(encodeValues(await call(input)));
  });
  app.get("/api/changes", (context) => changesStream(context, source, ending.signal));
  app.get("/api/feed", (context) => feedStream(context, source, ending.signal));
  app.get("/api/work", (context) => workStream(context, source, ending.signal));
  app.get("/api/export", (context) => exportStream(context, source, ending.signal));
  // A browser asks for it at the page with the token, which names no icon.
  app.get("/favicon.ico", (context) => context.body(null, 204));
  app.use(serveStatic({ root: fileURLToPath(new URL("../dist/page/", import.meta.url)) }));
  return {
    app,
    close: async () => {
      ending.abort();
      await close();
    },
  };
}
