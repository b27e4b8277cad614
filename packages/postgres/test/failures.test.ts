import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import * as postgres from "../src/index.js";
import { type PostgresOptions, postgresEngine } from "../src/index.js";
import { PostgresServer } from "./server/postgres-server.js";
import { describeOnServer, newTable, query } from "./server/shared-server.js";

const databases: EmbeddedKv[] = [];
afterEach(async () => {
  for (const kv of databases.splice(0)) await kv.close();
});

async function open(options: Partial<PostgresOptions> = {}): Promise<EmbeddedKv> {
  const kv = await openKv(await postgresEngine({ ...newTable(), ...options }));
  databases.push(kv);
  return kv;
}

describeOnServer("postgresEngine refuses", () => {
  it.each([
    ["a URL of another kind", { connectionString: "mysql://localhost" }, "connectionString"],
    ["a prefix that is no name", { prefix: "Users; DROP" }, "prefix"],
    ["a maximum of no connections", { maxConnections: 0 }, "maxConnections"],
    ["a deadline that is not a number", { deadline: Number.NaN }, "deadline"],
    ["an unknown option", { timeout: 1 } as object, "timeout"],
  ])("%s", async (_, options, option) => {
    await expect(open(options)).rejects.toMatchObject({
      code: "KW_POSTGRES_OPTION_INVALID",
      option,
    });
  });

  it("an address at which no server answers", async () => {
    const refused = { code: "KW_ENGINE_UNAVAILABLE", reason: "no server answers" };
    const connectionString = "postgres://keywright@127.0.0.1:1/postgres";
    await expect(open({ connectionString, deadline: 200 })).rejects.toMatchObject(refused);
  });

  it("a database that does not exist, and a server without TLS", async () => {
    const { connectionString } = newTable();
    const other = connectionString.replace("/postgres", "/nothing");
    await expect(open({ connectionString: other })).rejects.toMatchObject({
      code: "KW_POSTGRES_REFUSED",
      reason: "the database does not exist",
    });
    await expect(open({ ssl: true })).rejects.toMatchObject({
      code: "KW_POSTGRES_REFUSED",
      reason: "no TLS connection can be made with these settings",
    });
  });

  it("a table that is not Keywright's, and one of an unknown format", async () => {
    const { prefix } = newTable();
    await query(`CREATE TABLE ${prefix} (id int)`);
    await expect(open({ prefix })).rejects.toMatchObject({
      code: "KW_DATABASE_FORMAT",
      reason: `the table ${prefix} has other columns than Keywright's`,
    });
    const table = newTable();
    await (await open(table)).close();
    await query(`UPDATE ${table.prefix} SET value = 'keywright 9' WHERE key = '\\x0000'`);
    await expect(open(table)).rejects.toMatchObject({
      code: "KW_DATABASE_FORMAT",
      reason: `the table ${table.prefix} has an unknown format`,
    });
  });
});

describeOnServer("a server that needs a password", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
    await server.query("CREATE ROLE app LOGIN PASSWORD 'right'");
    await server.query("CREATE ROLE weak LOGIN PASSWORD 'right'");
    await server.query("GRANT CREATE ON SCHEMA public TO app");
    await server.requirePassword("app", "weak");
  });
  afterAll(() => server.remove());

  const url = (user: string, password: string) =>
    `postgres://${user}:${password}@${server.address}/postgres`;

  it("refuses a wrong one, and the message does not contain it", async () => {
    const error = await postgresEngine({ connectionString: url("app", "wrong-one") }).catch(
      (reason: unknown) => reason,
    );
    expect(error).toMatchObject({ code: "KW_POSTGRES_REFUSED" });
    expect(String(error)).toBe(
      "PostgresRefusedError: The PostgreSQL server refuses: the user or the password is wrong. Correct them in the connection string.",
    );
  });

  it("lets a user with the documented privileges use the table of another", async () => {
    const first = await open({ connectionString: url("app", "right"), prefix: "kw" });
    await first.set(["a"], 1);
    const weak = { connectionString: url("weak", "right"), prefix: "kw" };
    await expect(open(weak)).rejects.toMatchObject({
      code: "KW_POSTGRES_REFUSED",
      reason: "the user lacks a privilege",
    });
    await server.query("GRANT SELECT, INSERT, UPDATE, DELETE ON kw TO weak");
    const second = await open(weak);
    await second.set(["b"], 2);
    expect((await first.get(["b"])).value).toBe(2);
  });

  it("that accepts no writes is refused", async () => {
    await server.query("ALTER ROLE app SET default_transaction_read_only = on");
    const refused = { code: "KW_ENGINE_UNAVAILABLE", retryable: true };
    await expect(
      open({ connectionString: url("app", "right"), deadline: 300 }),
    ).rejects.toMatchObject({
      ...refused,
      reason: "it accepts no writes, because it is a standby or read-only",
    });
  });
});

describeOnServer("a table", () => {
  it("is created once by many who open it at the same time", async () => {
    const table = newTable();
    const all = await Promise.all(Array.from({ length: 8 }, () => open(table)));
    await Promise.all(all.map((kv) => kv.atomic().sum(["n"], 1n).commit()));
    expect((await all[0]!.get<{ value: bigint }>(["n"])).value?.value).toBe(8n);
  });

  it("that is dropped gives a typed error, and works after it is opened again", async () => {
    const table = newTable();
    const kv = await open(table);
    await query(`DROP TABLE ${table.prefix}`);
    await expect(kv.get(["a"])).rejects.toMatchObject({ code: "KW_POSTGRES_REFUSED" });
    await expect(kv.set(["a"], 1)).rejects.toMatchObject({ code: "KW_POSTGRES_REFUSED" });
    const again = await open(table);
    await again.set(["a"], 1);
    await kv.set(["a"], 2);
    expect((await again.get(["a"])).value).toBe(2);
  });

  it("keeps no session after the database is closed", async () => {
    const sessions = () =>
      query("SELECT pid FROM pg_stat_activity WHERE application_name = 'keywright'");
    const kv = await open();
    await kv.set(["a"], 1);
    const reader = kv.watch([["a"]]).getReader();
    await reader.read();
    expect((await sessions()).length).toBeGreaterThan(0);
    await kv.close();
    while ((await sessions()).length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  });

  it("has keys of at most 2,600 bytes, also with a hint of their expiry", async () => {
    const kv = await open();
    const key = ["x".repeat(2598)];
    await kv.set(key, 1, { expireIn: 60_000 });
    expect((await kv.get(key)).value).toBe(1);
    await expect(kv.set(["x".repeat(2599)], 1)).rejects.toMatchObject({
      code: "KW_LIMIT_EXCEEDED",
      limit: "keyBytes",
      max: 2600,
    });
  });

  it("removes the ids and the changes of old batches", async () => {
    const table = newTable();
    const kv = await open(table);
    for (let i = 0; i < 5; i++) await kv.set(["a"], i);
    await query(
      `UPDATE ${table.prefix} SET expires_at = 1 WHERE key < '\\x0003' AND key > '\\x0000'`,
    );
    for (let i = 0; i < 64; i++) await kv.set(["a"], i);
    const old = await query(`SELECT key FROM ${table.prefix} WHERE expires_at = 1`);
    expect(old).toEqual([]);
    expect((await kv.get(["a"])).value).toBe(63);
  });
});

describeOnServer("every error of the package", () => {
  it("has a code of the list", () => {
    const errors = [
      new postgres.PostgresOptionError("prefix", "must be a name"),
      new postgres.PostgresRefusedError("no", "Change it"),
    ];
    expect(errors.map(({ code }) => code)).toEqual(postgres.postgresErrorCodes);
    const classes = Object.keys(postgres).filter((name) => name.endsWith("Error"));
    expect(errors.map(({ name }) => name).sort()).toEqual(classes.sort());
  });
});
