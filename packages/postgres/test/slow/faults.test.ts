import { setTimeout as sleep } from "node:timers/promises";
import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { postgresEngine } from "../../src/index.js";
import { faultSettings, faults, runFault } from "../faults/run-fault.js";
import { findServer } from "../server/installed-server.js";
import { PostgresServer } from "../server/postgres-server.js";

let server: PostgresServer;
const databases: EmbeddedKv[] = [];
beforeAll(async () => {
  if (findServer() !== undefined) server = await PostgresServer.start(faultSettings);
});
afterEach(async () => {
  for (const kv of databases.splice(0)) await kv.close();
});
afterAll(() => server?.remove());

async function open(deadline = 10_000): Promise<EmbeddedKv> {
  const connectionString = server.url;
  const kv = await openKv(await postgresEngine({ connectionString, deadline, maxConnections: 4 }));
  databases.push(kv);
  return kv;
}

describe.skipIf(findServer() === undefined)("calls during faults", () => {
  it("are refused with a typed error after the deadline, and can be applied later", async () => {
    const kv = await open(3000);
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
    const kv = await open();
    const reader = kv.watch<[number]>([["watched"]]).getReader();
    expect((await reader.read()).value?.[0].value).toBe(null);
    const next = reader.read();
    await server.kill();
    await server.run();
    await (await open()).set(["watched"], 1);
    expect((await next).value?.[0].value).toBe(1);
  });
});

describe.skipIf(findServer() === undefined)("16 writers stay strictly serializable", () => {
  for (const name of Object.keys(faults)) {
    it(`with a fault: ${name}`, async () => {
      const { contradictions, commits } = await runFault(name, server);
      expect(contradictions).toEqual([]);
      expect(commits).toBeGreaterThan(200);
    });
  }
});
