// One of several equal processes, which `cluster.js` or PM2 starts. All open the same folder: the
// first one owns it, and the others attach to the owner.
import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { openKv } from "@keywright/core";
import { createDatabase, defineModel, httpStatusOf } from "@keywright/orm";
import * as z from "zod";

const User = defineModel({
  name: "users",
  schema: z.object({ id: z.ulid(), name: z.string().min(1), email: z.email() }),
  primaryKey: "id",
  indexes: { byEmail: { key: "email", unique: true, normalize: "lowercase" } },
});
const kv = await openKv(process.env.DATABASE ?? "./data");
const db = await createDatabase({ kv, models: { users: User } });

const server = createServer(async (request, response) => {
  response.setHeader("process", process.pid);
  response.setHeader("owner", kv.attached?.pid ?? process.pid);
  try {
    const answer =
      request.method === "POST"
        ? await db.users.create({ data: await json(request) })
        : await db.users.findMany({ orderBy: { id: "asc" }, take: 20 });
    response.writeHead(request.method === "POST" ? 201 : 200).end(JSON.stringify(answer));
  } catch (error) {
    const status = error instanceof SyntaxError ? 400 : httpStatusOf(error);
    if (status === 500) console.error(error);
    response.writeHead(status, status === 503 ? { "retry-after": "1" } : {}).end();
  }
});
// PM2 waits for this message before it stops the process that this one replaces.
server.listen(Number(process.env.PORT), () => process.send?.("ready"));

// PM2 sends SIGINT. Workers of a cluster end when their channel is closed.
for (const signal of ["SIGINT", "SIGTERM"])
  process.once(signal, () =>
    server.close(async () => {
      await kv.close();
      process.disconnect?.();
    }),
  );
