import type { ConnectionOptions } from "node:tls";
import { isCreationAllowed } from "@keywright/core/engine";
import { PostgresOptionError } from "../errors/postgres-errors.js";

/** Options of `postgresEngine`. */
export interface PostgresOptions {
  /**
   * The URL of the database. Several hosts are separated by commas; the engine uses the one that
   * accepts writes: `postgres://user:password@db1:5432,db2:5432/app`.
   */
  readonly connectionString: string;
  /** The name of the table, and the beginning of the function's name. `keywright` by default. */
  readonly prefix?: string | undefined;
  /** TLS: true, or the options of Node's `tls.connect`. False by default. */
  readonly ssl?: boolean | ConnectionOptions | undefined;
  /**
   * The maximum number of connections, without the one that waits for changes. 10 by default.
   * Transactions, copies and other views of one state have as many of their own, which are opened
   * when they are needed.
   */
  readonly maxConnections?: number | undefined;
  /**
   * Milliseconds for which a call is tried again if the server does not answer. 10,000 by default.
   */
  readonly deadline?: number | undefined;
  /**
   * If false, the table must exist. True by default. `openKv` has an option of the same name, for
   * what it stores in the table.
   */
  readonly createIfMissing?: boolean | undefined;
}

export interface EngineSettings {
  /** One connection string for each host. */
  readonly hosts: readonly string[];
  readonly prefix: string;
  readonly ssl: boolean | ConnectionOptions;
  readonly maxConnections: number;
  readonly deadline: number;
  readonly createIfMissing: boolean;
}

const names = [
  "connectionString",
  "prefix",
  "ssl",
  "maxConnections",
  "deadline",
  "createIfMissing",
];
const maxDeadline = 60_000;

/** @throws {PostgresOptionError} if an option is not valid. */
export function settingsOf(options: PostgresOptions): EngineSettings {
  for (const name of Object.keys(options)) {
    if (!names.includes(name))
      throw new PostgresOptionError(name, `is not an option; the options are ${names.join(", ")}`);
  }
  const { connectionString, prefix = "keywright", ssl = false } = options;
  const { maxConnections = 10, deadline = 10_000, createIfMissing = true } = options;
  if (!/^[a-z_][a-z0-9_]{0,39}$/.test(prefix)) {
    const reason = "must be at most 40 lower-case letters, digits and underscores";
    throw new PostgresOptionError("prefix", `${reason}, and must not begin with a digit`);
  }
  assertInteger("maxConnections", maxConnections, 1000);
  assertInteger("deadline", deadline, maxDeadline);
  if (typeof createIfMissing !== "boolean")
    throw new PostgresOptionError("createIfMissing", "must be true or false");
  return {
    ...{ hosts: hostsOf(connectionString), prefix, ssl, maxConnections, deadline },
    createIfMissing: createIfMissing && isCreationAllowed(),
  };
}

function assertInteger(name: string, value: unknown, max: number): void {
  if (Number.isInteger(value) && (value as number) > 0 && (value as number) <= max) return;
  throw new PostgresOptionError(name, `must be an integer from 1 to ${max}`);
}

/** Divides a URL with several hosts, which `pg` does not accept, into one for each host. */
function hostsOf(url: unknown): string[] {
  const parts = /^(postgres(?:ql)?:\/\/(?:[^@/]*@)?)([^/?]*)(.*)$/.exec(String(url));
  if (parts === null) {
    const reason = "must be a URL that begins with postgres:// or postgresql://";
    throw new PostgresOptionError("connectionString", reason);
  }
  const [, before, hosts, after] = parts;
  const urls = hosts!.split(",").map((host) => `${before}${host}${after}`);
  for (const each of urls) assertUrl(each);
  return urls;
}

/** Reports what `pg` would report later, as if the server did not answer. */
function assertUrl(url: string): void {
  try {
    decodeURIComponent(new URL(url).href);
  } catch {
    const reason = "has a host, a port or an escape that is not valid in a URL";
    throw new PostgresOptionError("connectionString", reason);
  }
}
