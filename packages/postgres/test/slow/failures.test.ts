import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import * as postgres from "../../src/index.js";
import { type PostgresOptions, postgresEngine } from "../../src/index.js";
import { PostgresServer } from "../server/postgres-server.js";
import { describeOnServer, newTable, query } from "../server/shared-server.js";

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
    ["a port that is none", { connectionString: "postgres://a,b:99999/c" }, "connectionString"],
    [
      "a password with a bad escape",
      { connectionString: "postgres://a:%zz@b/c" },
      "connectionString",
    ],
    ["a prefix that is no name", { prefix: "Users; DROP" }, "prefix"],
    ["a maximum of no connections", { maxConnections: 0 }, "maxConnections"],
    ["a deadline that is not a number", { deadline: Number.NaN }, "deadline"],
    [
      "a permission to create that is no boolean",
      { createIfMissing: 1 as never },
      "createIfMissing",
    ],
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

  it("a table that does not exist and may not be created", async () => {
    const { prefix } = newTable();
    await expect(open({ prefix, createIfMissing: false })).rejects.toMatchObject({
      code: "KW_DATABASE_NOT_FOUND",
      message: `There is no table ${prefix} in the PostgreSQL database, and none was created. Correct the options of the engine, or create the database first: openKv does, unless readOnly is true or createIfMissing is false.`,
    });
    expect(await query(`SELECT to_regclass('${prefix}') AS id`)).toEqual([{ id: null }]);
    await (await open({ prefix })).set(["a"], 1);
    await query(`DROP FUNCTION ${prefix}_commit_2`);
    const again = await open({ prefix, createIfMissing: false });
    expect((await again.get(["a"])).value).toBe(1);
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

  it("leaves everything as it was if a privilege is missing", async () => {
    await server.query("CREATE ROLE reader LOGIN PASSWORD 'right'");
    await server.requirePassword("reader");
    const refused = { code: "KW_POSTGRES_REFUSED", reason: "the user lacks a privilege" };
    const options = { connectionString: url("reader", "right"), prefix: "no_create" };
    await expect(open(options)).rejects.toMatchObject(refused);
    expect((await server.query("SELECT to_regclass('no_create') AS id"))[0]).toEqual({ id: null });

    const owner = await open({ ...options, connectionString: url("app", "right"), prefix: "kw2" });
    await owner.set(["a"], 1);
    await server.query("GRANT SELECT ON kw2 TO reader");
    const reader = await open({ ...options, prefix: "kw2" });
    expect((await reader.get(["a"])).value).toBe(1);
    await expect(reader.set(["a"], 2)).rejects.toMatchObject(refused);
    expect((await owner.get(["a"])).value).toBe(1);
    await server.query("GRANT INSERT, UPDATE, DELETE ON kw2 TO reader");
    await reader.set(["a"], 3);
    expect((await owner.get(["a"])).value).toBe(3);
    await server.query("REVOKE EXECUTE ON FUNCTION kw2_commit_2 FROM PUBLIC");
    await expect(reader.set(["a"], 4)).rejects.toMatchObject(refused);
  });

  it("that has no free connection is tried until the deadline", async () => {
    const options = { connectionString: url("app", "right"), deadline: 1500 };
    await server.query("ALTER ROLE app CONNECTION LIMIT 0");
    await expect(open(options)).rejects.toMatchObject({
      code: "KW_ENGINE_UNAVAILABLE",
      retryable: true,
      reason: "it has no free connection",
    });
    const opening = open({ ...options, deadline: 10_000 });
    await server.query("ALTER ROLE app CONNECTION LIMIT -1");
    await (await opening).set(["a"], 1);
  });

  it("that accepts no writes is refused, also by an open engine", async () => {
    const refused = {
      code: "KW_ENGINE_UNAVAILABLE",
      retryable: true,
      reason: "it accepts no writes, because it is a standby or read-only",
    };
    const options = { connectionString: url("app", "right"), deadline: 1500 };
    const kv = await open(options);
    await kv.set(["a"], 1);
    await server.query("ALTER SYSTEM SET default_transaction_read_only = on");
    await server.query("SELECT pg_reload_conf()");
    await expect(open(options)).rejects.toMatchObject(refused);
    await expect(kv.set(["a"], 2)).rejects.toMatchObject(refused);
    await server.query("ALTER SYSTEM RESET default_transaction_read_only");
    await server.query("SELECT pg_reload_conf()");
    expect((await kv.get(["a"])).value).toBe(1);
    await kv.set(["a"], 3);
  });

  it("keeps no session of an engine that it has refused", async () => {
    const sessions = "SELECT pid FROM pg_stat_activity WHERE application_name = 'keywright'";
    for (const kv of databases.splice(0)) await kv.close();
    while ((await server.query(sessions)).length > 0);
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

  it("has values of at most 32 MiB and commits of at most 64 MiB", async () => {
    const kv = await open();
    const { valueBytes, totalMutationBytes } = kv.limits;
    expect([valueBytes, totalMutationBytes]).toEqual([32 * 2 ** 20, 64 * 2 ** 20]);
    // The encoding of bytes adds some of its own.
    const large = new Uint8Array(valueBytes - 16).fill(7);
    await kv.set(["a"], large);
    expect((await kv.get<Uint8Array>(["a"])).value?.length).toBe(large.length);
    const refused = { code: "KW_LIMIT_EXCEEDED" };
    await expect(kv.set(["a"], new Uint8Array(valueBytes))).rejects.toMatchObject({
      ...refused,
      limit: "valueBytes",
    });
    const three = kv.atomic().set(["a"], 1).set(["b"], large).set(["c"], large).set(["d"], large);
    await expect((async () => three.commit())()).rejects.toMatchObject({
      ...refused,
      limit: "totalMutationBytes",
    });
    expect((await kv.get<Uint8Array>(["a"])).value?.length).toBe(large.length);
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
