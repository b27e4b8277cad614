import { resolve } from "node:path";
import { expect, it } from "vitest";
import { engineUrl } from "../src/project/engine-url.js";

const etcd = { packageName: "@keywright/etcd", exportName: "etcdEngine" };
const postgres = { packageName: "@keywright/postgres", exportName: "postgresEngine" };

const lmdb = { packageName: "@keywright/lmdb", exportName: "lmdbEngine" };
const sqlite = { packageName: "@keywright/sqlite", exportName: "sqliteEngine" };

it.each([
  ["lmdb:data/app.mdb", { ...lmdb, options: { path: resolve("/project/data/app.mdb") } }],
  ["lmdb:///var/app.mdb", { ...lmdb, options: { path: resolve("/var/app.mdb") } }],
  ["sqlite:a b/ä.sqlite", { ...sqlite, options: { path: resolve("/project/a b/ä.sqlite") } }],
  ["SQLite:///var/app.db", { ...sqlite, options: { path: resolve("/var/app.db") } }],
  ["etcd://127.0.0.1:2379", { ...etcd, options: { endpoints: ["http://127.0.0.1:2379"] } }],
  [
    "etcds://ada:p%40ss:word@db1,db2:1234/app/test",
    {
      ...etcd,
      options: {
        endpoints: ["https://db1:2379", "https://db2:1234"],
        prefix: "app/test",
        user: "ada",
        password: "p@ss:word",
      },
    },
  ],
  ["etcd://[::1]:2379/a", { ...etcd, options: { endpoints: ["http://[::1]:2379"], prefix: "a" } }],
  [
    "postgres://ada:secret@db1:5432,db2/app",
    { ...postgres, options: { connectionString: "postgres://ada:secret@db1:5432,db2/app" } },
  ],
  [
    "postgresql://db1/app?sslmode=require&prefix=shop",
    {
      ...postgres,
      options: { connectionString: "postgresql://db1/app?sslmode=require", prefix: "shop" },
    },
  ],
])("reads %s", (url, expected) => {
  expect(engineUrl("/project", url)).toEqual(expected);
});

it.each(["data/app", "https://db1/app", "etcd", "./postgres:/"])("leaves %s to others", (place) => {
  expect(engineUrl("/project", place)).toBeUndefined();
});
