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
  try {
    const user = await db.users.create({
      data: (await json(request)) as z.input<typeof User.schema>,
    });
    response.writeHead(201).end(JSON.stringify(user));
  } catch (error) {
    const status = error instanceof SyntaxError ? 400 : httpStatusOf(error);
    if (status === 500) console.error(error);
    response.writeHead(status, status === 503 ? { "retry-after": "1" } : {}).end();
  }
});
server.listen(Number(process.env.PORT ?? 3000));
process.once("SIGTERM", () => server.close(() => void kv.close()));
