import { setTimeout as sleep } from "node:timers/promises";
import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, describe, expect, it } from "vitest";
import { postgresEngine } from "../src/index.js";
import { faults, runFault } from "./faults/run-fault.js";
import { findServer } from "./server/installed-server.js";
import { PostgresServer } from "./server/postgres-server.js";

const servers: PostgresServer[] = [];
const databases: EmbeddedKv[] = [];
afterEach(async () => {
  for (const kv of databases.splice(0)) await kv.close();
  for (const server of servers.splice(0)) await server.remove();
});

async function startServer(settings?: readonly string[]): Promise<PostgresServer> {
  const server = await PostgresServer.start(settings);
  servers.push(server);
  return server;
}

async function open(connectionString: string, deadline = 10_000): Promise<EmbeddedKv> {
  const kv = await openKv(await postgresEngine({ connectionString, deadline, maxConnections: 4 }));
  databases.push(kv);
  return kv;
}

describe.skipIf(findServer() === undefined)("16 writers stay strictly serializable", () => {
  for (const name of Object.keys(faults)) {
    it(`with a fault: ${name}`, async () => {
      const { contradictions, commits } = await runFault(name);
      expect(contradictions).toEqual([]);
      expect(commits).toBeGreaterThan(200);
    });
  }
});

describe.skipIf(findServer() === undefined)("calls during faults", () => {
  it("are refused with a typed error after the deadline, and can be applied later", async () => {
    const server = await startServer();
    const kv = await open(server.url, 600);
    await kv.set(["a"], 1);
    server.signal("SIGSTOP");
    // The first call has the open connection, so it has sent its commit. The others cannot connect.
    const ambiguous = expect(kv.set(["a"], 2)).rejects.toMatchObject({
      code: "KW_COMMIT_AMBIGUOUS",
    });
    await sleep(50);
    const unavailable = { code: "KW_ENGINE_UNAVAILABLE", retryable: true };
    await expect(kv.get(["a"])).rejects.toMatchObject(unavailable);
    await ambiguous;
    await expect(kv.set(["a"], 3)).rejects.toMatchObject(unavailable);
    server.signal("SIGCONT");
    await kv.set(["b"], 1);
    expect([1, 2]).toContain((await kv.get(["a"])).value);
  });

  it("are reported by watches after the server was killed", async () => {
    const server = await startServer();
    const kv = await open(server.url);
    const reader = kv.watch<[number]>([["a"]]).getReader();
    expect((await reader.read()).value?.[0].value).toBe(null);
    const next = reader.read();
    await server.kill();
    await server.run();
    await (await open(server.url)).set(["a"], 1);
    expect((await next).value?.[0].value).toBe(1);
  });
});
