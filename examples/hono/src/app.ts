import { httpStatusOf } from "@keywright/orm";
import { Hono } from "hono";
import { HTTPException } from "hono/http-exception";
import { streamSSE } from "hono/streaming";
import type { Database } from "./database.js";

export function createApp(db: Database): Hono {
  const app = new Hono();

  app.get("/rooms/:room/messages", async (context) => {
    const { room } = context.req.param();
    const cursor = context.req.query("cursor") ?? null;
    return context.json(await db.messages.findMany({ where: { room }, take: 20, cursor }));
  });

  app.post("/rooms/:room/messages", async (context) => {
    const { text } = await context.req.json();
    const data = { text, room: context.req.param("room") };
    return context.json(await db.messages.create({ data }), 201);
  });

  app.delete("/messages/:id", async (context) => {
    await db.messages.delete({ where: { id: context.req.param("id") } });
    return context.body(null, 204);
  });

  // A client that goes away ends the live query.
  app.get("/rooms/:room/live", (context) => {
    const { room } = context.req.param();
    return streamSSE(context, async (events) => {
      const gone = new AbortController();
      events.onAbort(() => gone.abort());
      const states = db.messages.watchMany({ where: { room }, take: 20, signal: gone.signal });
      for await (const messages of states)
        await events.writeSSE({ data: JSON.stringify(messages) });
    });
  });

  app.onError((error, context) => {
    if (error instanceof HTTPException) return error.getResponse();
    const status = error instanceof SyntaxError ? 400 : httpStatusOf(error);
    if (status === 500) console.error(error);
    if (status === 503) context.header("Retry-After", "1");
    return context.body(null, status);
  });
  return app;
}
