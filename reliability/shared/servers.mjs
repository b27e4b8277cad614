import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** True if the servers are installed. */
export const hasEtcd = spawnSync("etcd", ["--version"]).status === 0;
export const hasPostgres = [process.env.KEYWRIGHT_POSTGRES_BIN ?? "", ...debianFolders()].some(
  (folder) => existsSync(join(folder, "initdb")),
);

/** Starts a PostgreSQL server, as the tests of @keywright/postgres do, which are in TypeScript. */
export async function startPostgres(settings) {
  const { createViteServer } = await import("vitest/node");
  const vite = await createViteServer({
    root: fileURLToPath(new URL("../../packages/postgres/test", import.meta.url)),
    configFile: false,
    logLevel: "error",
    server: { middlewareMode: true, ws: false },
  });
  try {
    const { PostgresServer } = await vite.ssrLoadModule("/server/postgres-server.ts");
    return await PostgresServer.start(settings);
  } finally {
    await vite.close();
  }
}

function debianFolders() {
  const versions = "/usr/lib/postgresql";
  if (!existsSync(versions)) return [];
  return readdirSync(versions).map((version) => join(versions, version, "bin"));
}
