import { openKv as openDenoKv } from "@deno/kv";
import { type EmbeddedKv, openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { serve } from "../src/index.js";
import { readToken, token, withServer } from "./served.js";

const log = {};

/** Consumes on a client, and counts in the same commit. Resolves with what was delivered. */
function count(client: EmbeddedKv, name: string, delivered: unknown[], signal?: AbortSignal) {
  return client.consume<number>(
    "count",
    async ({ commit, atomic }) => {
      for (const { after } of commit.changes) delivered.push(after?.value);
      const operation = atomic().sum(["count"], BigInt(commit.changes.length));
      await operation.set(["by", name], commit.versionstamp).commit();
    },
    { prefix: ["in"], signal, retryDelay: () => 1, onError: () => undefined },
  );
}

async function until(isReached: () => unknown): Promise<void> {
  while (!(await isReached())) await new Promise((resolve) => setTimeout(resolve, 5));
}

it("a consumer of one client is continued by another, and each commit counts once", async () => {
  await withServer({ log }, async ({ url }, kv) => {
    const [first, second] = [await openKv(url, { token }), await openKv(url, { token })];
    const delivered: { a: unknown[]; b: unknown[] } = { a: [], b: [] };
    const ending = new AbortController();
    const consuming = count(first, "a", delivered.a, ending.signal);
    await kv.set(["in", 1], 1);
    await until(() => delivered.a.length === 1);
    const stopping = new AbortController();
    const waiting = count(second, "b", delivered.b, stopping.signal);
    await kv.set(["in", 2], 2);
    await until(() => delivered.a.length === 2);
    expect((await second.consumers()).map(({ name }) => name)).toEqual(["count"]);
    ending.abort();
    await consuming;
    await kv.set(["in", 3], 3);
    await until(() => delivered.b.length === 1);
    stopping.abort();
    await waiting;
    expect(delivered).toEqual({ a: [1, 2], b: [3] });
    expect((await kv.get(["count"])).value).toMatchObject({ value: 3n });
    await first.close();
    await second.close();
  });
});

it("a consumer and a feed continue when the server was started again", async () => {
  await using kv = await openKv(":memory:", { log });
  const options = { tokens: [token] };
  let server = await serve(kv, { port: 0, ...options });
  const client = await openKv(server.url, { token });
  const delivered: unknown[] = [];
  const stopping = new AbortController();
  const consuming = count(client, "a", delivered, stopping.signal);
  await kv.set(["in", 1], 1);
  await until(() => delivered.length === 1);
  await server.close();
  await kv.set(["in", 2], 2);
  server = await serve(kv, { port: Number(new URL(server.url).port), ...options });
  await kv.set(["in", 3], 3);
  await until(() => delivered.length >= 3);
  stopping.abort();
  await consuming;
  expect(new Set(delivered)).toEqual(new Set([1, 2, 3]));
  expect((await kv.get(["count"])).value).toMatchObject({ value: 3n });
  await client.close();
  await server.close();
});

it("a client that may only read follows the feed, and its consumer is refused", async () => {
  await withServer({ log }, async ({ url }, kv) => {
    await using reader = await openKv(url, { token: readToken });
    await kv.set(["in", 1], 1);
    const seen: unknown[] = [];
    for await (const { changes } of reader.changes({ live: false }))
      for (const { after } of changes) seen.push(after?.value);
    expect(seen).toEqual([1]);
    await expect(count(reader, "a", [])).rejects.toMatchObject({ code: "KW_DATABASE_READ_ONLY" });
  });
});

it("a database without a log is refused through a server, and by the client of Deno KV", async () => {
  await withServer({ compat: "deno" }, async ({ url }) => {
    await using client = await openKv(url, { token, compat: "deno" });
    const off = { code: "KW_LOG_OFF" };
    await expect(count(client, "a", [])).rejects.toMatchObject(off);
    await expect(client.changes({ live: false }).next()).rejects.toMatchObject(off);
    await expect(client.commitAt("0".repeat(20))).rejects.toMatchObject(off);
    const deno = await openDenoKv(url, { accessToken: token });
    expect("changes" in deno || "consume" in deno).toBe(false);
    deno.close();
  });
});
