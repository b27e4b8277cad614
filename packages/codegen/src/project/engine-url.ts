import { resolve } from "node:path";

/** A database of an engine that is a package of its own, as a URL names it. */
export interface EngineUrl {
  readonly packageName:
    | "@keywright/etcd"
    | "@keywright/postgres"
    | "@keywright/lmdb"
    | "@keywright/sqlite";
  /** The function of the package that opens the engine. */
  readonly exportName: "etcdEngine" | "postgresEngine" | "lmdbEngine" | "sqliteEngine";
  readonly options: Readonly<Record<string, unknown>>;
}

/**
 * Reads the URL of a database on etcd, PostgreSQL, LMDB or SQLite. The first two may have several
 * hosts, separated by commas:
 *
 * - `etcd://user:password@host:2379,host2:2379/prefix`, or `etcds://` for TLS
 * - `postgres://user:password@host:5432,host2:5432/name?prefix=table`
 * - `lmdb:data/app.mdb`, relative to `folder`
 * - `sqlite:data/app.sqlite`, relative to `folder`
 *
 * @returns undefined for everything else.
 */
export function engineUrl(folder: string, text: string): EngineUrl | undefined {
  const [, scheme = "", file] = /^(lmdb|sqlite):(?:\/\/)?(.+)$/i.exec(text) ?? [];
  if (file !== undefined) return fileUrl(scheme, resolve(folder, file));
  if (/^postgres(ql)?:\/\//i.test(text)) return postgresUrl(text);
  const parts = /^etcd(s?):\/\/(?:([^@/]*)@)?([^/?#]*)\/?([^?#]*)$/i.exec(text);
  return parts === null ? undefined : etcdUrl(parts);
}

function fileUrl(scheme: string, path: string): EngineUrl {
  return scheme.toLowerCase() === "lmdb"
    ? { packageName: "@keywright/lmdb", exportName: "lmdbEngine", options: { path } }
    : { packageName: "@keywright/sqlite", exportName: "sqliteEngine", options: { path } };
}

function etcdUrl([, secure = "", login = "", hosts = "", path = ""]: RegExpExecArray): EngineUrl {
  const protocol = secure === "" ? "http" : "https";
  const [user = "", ...password] = login.split(":");
  return {
    packageName: "@keywright/etcd",
    exportName: "etcdEngine",
    options: {
      endpoints: hosts.split(",").map((host) => `${protocol}://${withPort(host)}`),
      ...(path !== "" && { prefix: decoded(path) }),
      ...(login !== "" && { user: decoded(user), password: decoded(password.join(":")) }),
    },
  };
}

function withPort(host: string): string {
  return /:\d+$/.test(host) ? host : `${host}:2379`;
}

/** The rest of the URL is for the client of PostgreSQL, which knows other parameters. */
function postgresUrl(text: string): EngineUrl {
  const [address = "", query = ""] = text.split(/\?(.*)/s);
  const parameters = new URLSearchParams(query);
  const prefix = parameters.get("prefix");
  parameters.delete("prefix");
  const rest = parameters.toString();
  return {
    packageName: "@keywright/postgres",
    exportName: "postgresEngine",
    options: {
      connectionString: rest === "" ? address : `${address}?${rest}`,
      ...(prefix !== null && { prefix }),
    },
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
