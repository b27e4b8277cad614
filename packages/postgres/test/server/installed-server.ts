import { execFileSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

export interface InstalledServer {
  /** The folder of the programs. */
  readonly folder: string;
  /** The user that the server runs as if this process runs as root, which PostgreSQL refuses. */
  readonly uid: number | undefined;
}

const debianFolder = "/usr/lib/postgresql";

/** Returns undefined if no PostgreSQL server is installed. */
export function findServer(): InstalledServer | undefined {
  const folder = [process.env["KEYWRIGHT_POSTGRES_BIN"] ?? "", ...debianFolders()].find((each) =>
    existsSync(join(each, "initdb")),
  );
  if (folder === undefined) return undefined;
  if (process.getuid?.() !== 0) return { folder, uid: undefined };
  return { folder, uid: Number(execFileSync("id", ["-u", "postgres"], { encoding: "utf8" })) };
}

export function installedServer(): InstalledServer {
  const server = findServer();
  if (server === undefined) throw new Error("no PostgreSQL server is installed");
  return server;
}

/** Returns the folders of Debian's versions, the latest first. */
function debianFolders(): string[] {
  if (!existsSync(debianFolder)) return [];
  const versions = readdirSync(debianFolder).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(debianFolder, version, "bin"));
}
