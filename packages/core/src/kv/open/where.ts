import type { Engine } from "../../engine/engine.js";

/** The rule that the argument of `openKv` breaks, as the reason of an error. */
export const whereReason =
  'must be a path, ":memory:", the URL of a server, an engine or an abstract-level database';

/** Precedes the path of a folder that another process has open, or of its socket. */
export const socketScheme = "unix:";

/** The schemes that the configuration of the `keywright` command opens by an engine. */
const packageByScheme: Readonly<Record<string, string>> = {
  etcd: "etcdEngine of @keywright/etcd",
  etcds: "etcdEngine of @keywright/etcd",
  postgres: "postgresEngine of @keywright/postgres",
  postgresql: "postgresEngine of @keywright/postgres",
  lmdb: "lmdbEngine of @keywright/lmdb",
  sqlite: "sqliteEngine of @keywright/sqlite",
};

/**
 * Returns why a text is not a path, if it is the URL of something that `openKv` cannot open. As a
 * path, it would become a new and empty folder. A drive, as in `C:\\data`, is not a scheme.
 */
export function foreignUrlReason(where: string): string | undefined {
  const scheme =
    /^([a-z][a-z0-9+.-]+):\/\//i.exec(where)?.[1] ?? /^(lmdb|sqlite):/i.exec(where)?.[1];
  if (scheme === undefined) return undefined;
  const opener = packageByScheme[scheme.toLowerCase()];
  if (opener !== undefined) return `is a URL that ${opener} opens; pass the engine`;
  return `is a URL, but no server of Keywright has the scheme ${scheme}; pass a path, http:// or https://`;
}

export function isEngine(where: unknown): where is Engine {
  const { getRange, watchRanges } = (where ?? {}) as Partial<Engine>;
  return typeof getRange === "function" && typeof watchRanges === "function";
}

/** True for the address of a database that another process serves. */
export function isRemoteAddress(where: string): boolean {
  return isUrl(where) || where.startsWith(socketScheme);
}

export function isUrl(where: string): boolean {
  return where.startsWith("http://") || where.startsWith("https://");
}
