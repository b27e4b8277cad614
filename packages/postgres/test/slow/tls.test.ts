import { readFileSync } from "node:fs";
import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { type PostgresOptions, postgresEngine } from "../../src/index.js";
import { PostgresServer } from "../server/postgres-server.js";
import { describeOnServer } from "../server/shared-server.js";

const ca = readFileSync(new URL("../server/tls/ca.pem", import.meta.url));

describeOnServer("a server that requires TLS", () => {
  let server: PostgresServer;
  const databases: EmbeddedKv[] = [];
  beforeAll(async () => {
    server = await PostgresServer.start();
    await server.acceptTls();
    await server.query("CREATE ROLE app SUPERUSER LOGIN");
    await server.addAccess(
      "hostssl all app 127.0.0.1/32 trust",
      "hostnossl all app 127.0.0.1/32 reject",
    );
  });
  afterEach(async () => {
    for (const kv of databases.splice(0)) await kv.close();
  });
  afterAll(() => server.remove());

  async function open(ssl: PostgresOptions["ssl"]): Promise<EmbeddedKv> {
    const connectionString = `postgres://app@${server.address}/postgres`;
    const kv = await openKv(await postgresEngine({ connectionString, ssl }));
    databases.push(kv);
    return kv;
  }

  it("is used with the authority of its certificate, also for watches", async () => {
    const kv = await open({ ca });
    const reader = kv.watch<[number]>([["a"]]).getReader();
    expect((await reader.read()).value?.[0].value).toBe(null);
    await kv.set(["a"], 1);
    expect((await reader.read()).value?.[0].value).toBe(1);
    const sessions = await server.query(
      "SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE usename = 'app'",
    );
    expect(sessions.length).toBeGreaterThan(1);
    expect(sessions.every(({ ssl }) => ssl)).toBe(true);
  });

  it("refuses a connection without TLS", async () => {
    await expect(open(false)).rejects.toMatchObject({
      code: "KW_POSTGRES_REFUSED",
      reason: "this user may not connect from here",
    });
  });

  it.each<[string, PostgresOptions["ssl"]]>([
    ["if its authority is unknown", true],
    [
      "whose authority is another",
      { ca: readFileSync(new URL("../server/tls/server.pem", import.meta.url)) },
    ],
    [
      "whose name is another",
      {
        ca,
        checkServerIdentity: () =>
          Object.assign(new Error("no"), { code: "ERR_TLS_CERT_ALTNAME_INVALID" }),
      },
    ],
    ["if the option is no certificate", { ca: "-----BEGIN CERTIFICATE-----\nno\n" }],
  ])("is not used %s", async (_, ssl) => {
    const error = await open(ssl).catch((reason: unknown) => reason);
    expect(error).toMatchObject({
      code: "KW_POSTGRES_REFUSED",
      reason: "no TLS connection can be made with these settings",
    });
    const sessions = "SELECT pid FROM pg_stat_activity WHERE usename = 'app'";
    while ((await server.query(sessions)).length > 0);
  });
});
