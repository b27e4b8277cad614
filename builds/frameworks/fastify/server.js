import { openKv } from "@keywright/core";
import { createDatabase, defineModel, httpStatusOf, isKeywrightError } from "@keywright/orm";
import fastify from "fastify";
import * as z from "zod";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.ulid(), name: z.string().min(1), email: z.email() }),
  primaryKey: "id",
  indexes: { byEmail: { key: "email", unique: true, normalize: "lowercase" } },
});
const kv = await openKv(process.env.DATABASE ?? "./data");
const db = await createDatabase({ kv, models: { users: User } });
const stopping = new AbortController();

const app = fastify();
app.addHook("preClose", async () => stopping.abort());
app.addHook("onClose", () => kv.close());
app.post("/api/users", async (request, reply) => {
  reply.code(201);
  return db.users.create({ data: request.body });
});
// The live query ends when the client goes away or the server stops.
app.get("/api/users/live", async (_request, reply) => {
  const gone = new AbortController();
  reply.hijack();
  reply.raw.on("close", () => gone.abort());
  // Otherwise the connection stays open after the last event, and holds the server up.
  reply.raw.writeHead(200, { "content-type": "text/event-stream", connection: "close" });
  const signal = AbortSignal.any([gone.signal, stopping.signal]);
  for await (const users of db.users.watchMany({ orderBy: { id: "asc" }, take: 20, signal }))
    reply.raw.write(`data: ${JSON.stringify(users)}\n\n`);
  console.log("a live query has ended");
  reply.raw.end();
});
app.setErrorHandler((error, _request, reply) => {
  // Errors of Fastify itself, such as a body that is no JSON, have a status of their own.
  const status = isKeywrightError(error) ? httpStatusOf(error) : (error.statusCode ?? 500);
  if (status === 500) console.error(error);
  if (status === 503) reply.header("retry-after", "1");
  reply.code(status).send();
});
await app.listen({ port: Number(process.env.PORT) });
process.once("SIGTERM", () => app.close());
