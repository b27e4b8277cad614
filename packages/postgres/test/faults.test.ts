import { setTimeout as sleep } from "node:timers/promises";
import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, describe, expect, it } from "vitest";
import { postgresEngine } from "../src/index.js";
import { History } from "./history.js";
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

/** Runs 16 writers of two engines, and a fault in the middle. Verifies the history. */
async function withFault(url: string, fault: () => Promise<unknown>): Promise<History> {
  const history = new History();
  const pair = [await open(url), await open(url)];
  history.start(pair, 16);
  await history.progress(50);
  await fault();
  await history.progress(50);
  await history.stop();
  await history.verify(pair[0]!);
  return history;
}

describe.skipIf(findServer() === undefined)("commits during faults", () => {
  it("lose and repeat nothing when the server is killed and started again", async () => {
    const server = await startServer();
    await withFault(server.url, async () => {
      await server.kill();
      await server.run();
    });
  });

  it("lose and repeat nothing when the server is paused", async () => {
    const server = await startServer();
    const { errors } = await withFault(server.url, async () => {
      server.signal("SIGSTOP");
      await sleep(1000);
      server.signal("SIGCONT");
    });
    expect([...errors]).toEqual([]);
  });

  it("lose and repeat nothing when the server ends all sessions, again and again", async () => {
    const server = await startServer();
    const { errors } = await withFault(server.url, async () => {
      for (let i = 0; i < 20; i++) {
        await server.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'keywright'",
        );
        await sleep(20);
      }
    });
    expect([...errors]).toEqual([]);
  });

  it("wait when the server has no free connection", async () => {
    const server = await startServer(["fsync=off", "max_connections=14"]);
    await withFault(server.url, async () => {
      await Promise.all([open(server.url), open(server.url)]);
    });
  });

  it("continue on the standby when the primary is killed and the standby promoted", async () => {
    const primary = await startServer();
    const standby = await primary.startStandby();
    servers.push(standby);
    await primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await primary.query("SELECT pg_reload_conf()");
    const url = `postgres://keywright@${primary.address},${standby.address}/postgres`;
    const history = await withFault(url, async () => {
      await primary.kill();
      await standby.promote();
    });
    expect(history.writes.length).toBeGreaterThan(100);
  });

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
