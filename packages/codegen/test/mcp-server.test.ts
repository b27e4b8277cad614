import { once } from "node:events";
import { PassThrough } from "node:stream";
import { type AnyDatabase, defineModel } from "@keywright/orm";
import { compileModel } from "@keywright/orm/codegen";
import { expect, it } from "vitest";
import * as z from "zod";
import { serveMcp } from "../src/serve-mcp.js";
import type { OpenDatabase } from "../src/source/open-database.js";

const model = compileModel(
  defineModel({ name: "users", schema: z.object({ id: z.string() }), primaryKey: "id" }),
);

/** A server whose calls wait until `open` is called. */
async function startServer() {
  const created: unknown[] = [];
  const users = { create: async (options: unknown) => created.push(options) };
  const database = { users } as unknown as AnyDatabase;
  let open = () => {};
  const opened = new Promise<OpenDatabase>((resolve) => {
    open = () => resolve({ database, models: [{ property: "users", model }] });
  });
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const server = await serveMcp({
    withDatabase: async (use) => await use(await opened),
    describeError: (error) => ({ message: String(error) }),
    version: "1",
    allowWrites: true,
    stdin,
    stdout,
  });
  const send = (message: object) =>
    stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const call = (id: number, name: string, input: object) =>
    send({ id, method: "tools/call", params: { name, arguments: input } });
  return { server, created, stdin, stdout, send, call, open };
}

it("writes nothing for a call that is cancelled before the database is open", async () => {
  const { server, created, stdout, send, call, open } = await startServer();
  call(1, "create", { model: "users", data: { id: "cancelled" } });
  send({ method: "notifications/cancelled", params: { requestId: 1 } });
  call(2, "create", { model: "users", data: { id: "kept" } });
  send({ id: 3, method: "ping" });
  await once(stdout, "data");
  open();
  await once(stdout, "data");
  expect(created).toMatchObject([{ data: { id: "kept" } }]);
  await server.close();
});

it("ends although a database never opens", async () => {
  const { server, stdin, stdout, send, call } = await startServer();
  call(1, "models", {});
  send({ id: 2, method: "ping" });
  await once(stdout, "data");
  stdin.end();
  await server.ended;
  await server.close();
}, 20_000);
