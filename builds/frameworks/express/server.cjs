// A program in CommonJS: the packages are loaded with `import()`, which works in every Node.js.
const express = require("express");

async function main() {
  const { openKv } = await import("@keywright/core");
  const { createDatabase, defineModel, httpStatusOf } = await import("@keywright/orm");
  const z = require("zod");

  const User = defineModel({
    name: "users",
    schema: z.object({ id: z.ulid(), name: z.string().min(1), email: z.email() }),
    primaryKey: "id",
    indexes: { byEmail: { key: "email", unique: true, normalize: "lowercase" } },
  });
  const kv = await openKv(process.env.DATABASE ?? "./data");
  const db = await createDatabase({ kv, models: { users: User } });
  const stopping = new AbortController();

  const app = express();
  app.use(express.text({ type: () => true }));
  app.post("/api/users", async (request, response) => {
    response.status(201).json(await db.users.create({ data: JSON.parse(request.body) }));
  });
  // The live query ends when the client goes away or the server stops.
  app.get("/api/users/live", async (_request, response) => {
    const gone = new AbortController();
    response.on("close", () => gone.abort());
    // Otherwise the connection stays open after the last event, and holds the server up.
    response.type("text/event-stream").set("connection", "close");
    const signal = AbortSignal.any([gone.signal, stopping.signal]);
    for await (const users of db.users.watchMany({ orderBy: { id: "asc" }, take: 20, signal }))
      response.write(`data: ${JSON.stringify(users)}\n\n`);
    console.log("a live query has ended");
    response.end();
  });
  // Express finds the handler of errors by its four parameters.
  app.use((error, _request, response, _next) => {
    const status = error instanceof SyntaxError ? 400 : httpStatusOf(error);
    if (status === 500) console.error(error);
    if (status === 503) response.set("Retry-After", "1");
    response.status(status).end();
  });
  const server = app.listen(Number(process.env.PORT));
  process.once("SIGTERM", () => {
    stopping.abort();
    server.close(() => kv.close());
  });
}

void main();
