import { once } from "node:events";
import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { type AnyDatabase, defineModel } from "@keywright/orm";
import { compileModel } from "@keywright/orm/codegen";
import { expect, it } from "vitest";
import * as z from "zod";
import { errorReport } from "../src/cli/terminal/error-report.js";
import { safeReport } from "../src/cli/terminal/write-json.js";
import { serveMcp } from "../src/mcp/serve-mcp.js";
import type { OpenDatabase } from "../src/mcp/source/open-database.js";

const model = compileModel(
  defineModel({ name: "users", schema: z.object({ id: z.string() }), primaryKey: "id" }),
);

interface Message {
  readonly id: number;
  readonly result: { readonly isError: boolean; readonly structuredContent: Answer };
}

type Answer = { readonly result?: unknown; readonly error?: { readonly code: string } };

/** A server whose calls wait until `open` is called, with these methods of its repository. */
async function startServer({ users = {}, timeout = 60_000 }: { users?: object; timeout?: number }) {
  const database = { users } as unknown as AnyDatabase;
  let open = () => {};
  const opened = new Promise<OpenDatabase>((resolve) => {
    open = () => resolve({ database, models: [{ property: "users", model }] });
  });
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const readOnly: boolean[] = [];
  const server = serveMcp({
    withDatabase: async (use, options) => {
      readOnly.push(options.readOnly);
      return await use(await opened);
    },
    describeError: (error) => safeReport(errorReport(error, true)),
    version: "1",
    allowWrites: true,
    timeout,
    stdin,
    stdout,
  });
  const send = (message: object) =>
    stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const call = (id: number, name: string, input: object) =>
    send({ id, method: "tools/call", params: { name, arguments: input } });
  let text = "";
  stdout.on("data", (chunk) => {
    text += chunk;
  });
  /** Waits for the answer to a message. */
  const answerTo = async (id: number): Promise<Message> => {
    for (;;) {
      const messages = text
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as Message);
      const found = messages.find((message) => message.id === id);
      if (found !== undefined) return found;
      await once(stdout, "data");
    }
  };
  send({
    id: 0,
    method: "initialize",
    params: {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    },
  });
  await answerTo(0);
  return { server, stdin, send, call, open, answerTo, readOnly, text: () => text };
}

it("writes nothing for a call that is cancelled before the database is open", async () => {
  const created: unknown[] = [];
  const users = { create: async (options: unknown) => created.push(options) };
  const { server, send, call, open, answerTo, text } = await startServer({ users });
  call(1, "create", { model: "users", data: { id: "cancelled" } });
  send({ method: "notifications/cancelled", params: { requestId: 1 } });
  call(2, "create", { model: "users", data: { id: "kept" } });
  send({ id: 3, method: "ping" });
  await answerTo(3);
  open();
  await answerTo(2);
  expect(created).toMatchObject([{ data: { id: "kept" } }]);
  expect(text()).not.toContain('"id":1');
  await server.close();
});

it("waits for a call although its time is longer than that of a timer", async () => {
  const users = { count: async () => 3 };
  const { server, send, call, open, answerTo } = await startServer({ users, timeout: 2 ** 40 });
  call(1, "count", { model: "users" });
  send({ id: 2, method: "ping" });
  await answerTo(2);
  await sleep(1);
  open();
  expect((await answerTo(1)).result.structuredContent).toEqual({ result: { count: 3 } });
  await server.close();
});

it("stops the work of a call that is cancelled while it runs", async () => {
  let stopped = () => {};
  const hasStopped = new Promise<void>((resolve) => {
    stopped = resolve;
  });
  let begin = () => {};
  const hasBegun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const findMany = async ({ signal }: { readonly signal: AbortSignal }) => {
    begin();
    await once(signal, "abort");
    stopped();
    throw signal.reason;
  };
  const { server, send, call, open } = await startServer({ users: { findMany } });
  open();
  call(1, "find", { model: "users", where: { id: "a" } });
  await hasBegun;
  send({ method: "notifications/cancelled", params: { requestId: 1, reason: "enough" } });
  await hasStopped;
  await server.close();
});

it("ends a call whose database does not open, and answers the next one", async () => {
  const count = async () => 3;
  const { server, call, open, answerTo } = await startServer({ users: { count }, timeout: 100 });
  call(1, "count", { model: "users" });
  const { result } = await answerTo(1);
  expect(result).toMatchObject({
    isError: true,
    structuredContent: {
      error: {
        code: "KW_CALL_TIMEOUT",
        message: "count: the project and its database have not opened within 0.1 seconds",
        remedy: expect.stringContaining("check that the server of the database runs"),
        details: { tool: "count", seconds: 0.1 },
      },
    },
  });
  open();
  call(2, "count", { model: "users" });
  expect((await answerTo(2)).result.structuredContent).toEqual({ result: { count: 3 } });
  await server.close();
});

it("ends a call that takes too long, and says what to do", async () => {
  const never = () => new Promise<never>(() => {});
  const users = { count: never, create: never };
  const { server, call, open, answerTo } = await startServer({ users, timeout: 100 });
  open();
  call(1, "count", { model: "users" });
  call(2, "create", { model: "users", data: {} });
  expect((await answerTo(1)).result.structuredContent.error).toMatchObject({
    code: "KW_CALL_TIMEOUT",
    message: "count: the call has not ended within 0.1 seconds, and was stopped",
    remedy: expect.stringContaining("read less"),
  });
  expect((await answerTo(2)).result.structuredContent.error).toMatchObject({
    message: expect.stringContaining("the row may have been written"),
    remedy: "read the row before you repeat the call",
  });
  await server.close();
}, 20_000);

it("opens the database for reading only, except for the tools that write", async () => {
  const users = { count: async () => 0, create: async () => ({}) };
  const { server, call, open, answerTo, readOnly } = await startServer({ users });
  open();
  call(1, "count", { model: "users" });
  await answerTo(1);
  call(2, "create", { model: "users", data: {} });
  await answerTo(2);
  expect(readOnly).toEqual([true, false]);
  await server.close();
});

it("describes an error with a bigint in its fields", async () => {
  const error = Object.assign(new Error("there is no row"), { code: "KW_ROW_NOT_FOUND", id: 12n });
  const count = async () => Promise.reject(error);
  const { server, call, open, answerTo } = await startServer({ users: { count } });
  open();
  call(1, "count", { model: "users" });
  expect((await answerTo(1)).result.structuredContent.error).toMatchObject({
    code: "KW_ROW_NOT_FOUND",
    details: { id: { $: "12n" } },
  });
  await server.close();
});

it("says once what is wrong with a row, and which row a write needs", async () => {
  const issues = [{ path: ["email"], message: "expected string" }];
  const cause = new Error(JSON.stringify(issues));
  const errors = [
    Object.assign(new Error("the row does not fit", { cause }), { code: "KW_ROW_INVALID", issues }),
    Object.assign(new Error("no key"), { code: "KW_QUERY_UNINDEXED", operation: "update" }),
  ];
  const update = async () => {
    throw errors.shift();
  };
  const { server, call, open, answerTo } = await startServer({ users: { update } });
  open();
  const input = { model: "users", where: { id: "a" }, data: {} };
  call(1, "update", input);
  expect((await answerTo(1)).result.structuredContent.error).toEqual({
    code: "KW_ROW_INVALID",
    message: "the row does not fit",
    remedy: expect.stringContaining("shows their types"),
    details: { issues: [{ path: "email", message: "expected string" }] },
  });
  call(2, "update", input);
  expect((await answerTo(2)).result.structuredContent.error).toMatchObject({
    remedy: expect.stringContaining("by its primary key"),
  });
  await server.close();
});

it("names what is wrong in arguments, and what is close to it", async () => {
  const { server, call, open, answerTo } = await startServer({});
  open();
  const wrong: readonly (readonly [string, object, RegExp])[] = [
    ["finds", { model: "users" }, /there is no tool finds; did you mean find\?/],
    ["find", { model: "user" }, /there is no model user; did you mean users\?/],
    ["find", { model: "nothing" }, /there is no model nothing; the models are users/],
    ["find", { model: "users", limit: 5 }, /limit is not valid: there is no such argument/],
    ["find", { model: "users", wheres: {} }, /did you mean where\?/],
    ["find", { model: "users", take: 1000 }, /take is not valid: .*200/],
    ["find", { take: 1000 }, /model is not valid: .*; take: .*200/],
  ];
  for (const [i, [name, input, message]] of wrong.entries()) {
    call(i + 1, name, input);
    const { error } = (await answerTo(i + 1)).result.structuredContent;
    expect(error).toMatchObject({
      code: "KW_ARGUMENT_INVALID",
      message: expect.stringMatching(message),
      remedy: "Correct the argument that the message names, and call the tool again.",
    });
  }
  await server.close();
});

it("returns as many rows as fit into an answer, with the cursor after them", async () => {
  const taken: number[] = [];
  const scan = async ({ take }: { readonly take: number }) => {
    taken.push(take);
    const items = Array.from({ length: take }, (_, id) => ({ id, text: "a".repeat(1000) }));
    return { items, cursor: `after ${take}` };
  };
  const { server, call, open, answerTo } = await startServer({ users: { scan } });
  open();
  call(1, "find", { model: "users", take: 200 });
  const { result } = (await answerTo(1)).result.structuredContent;
  const { rows, cursor } = result as { readonly rows: readonly unknown[]; readonly cursor: string };
  expect(rows).toHaveLength(taken[1]!);
  expect(rows.length).toBeGreaterThan(40);
  expect(cursor).toBe(`after ${rows.length}`);
  await server.close();
});

it("ends although a database never opens", async () => {
  const { server, stdin, send, call, answerTo } = await startServer({});
  call(1, "models", {});
  send({ id: 2, method: "ping" });
  await answerTo(2);
  stdin.end();
  await server.ended;
  await server.close();
}, 20_000);
