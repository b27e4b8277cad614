import { Buffer } from "node:buffer";
import {
  DatabaseFormatError,
  DatabaseNotFoundError,
  type Engine,
  InvalidOptionError,
} from "@keywright/core";
import { isCreationAllowed } from "@keywright/core/engine";
import type { EtcdTlsOptions } from "./client/endpoint.js";
import { EtcdClient } from "./client/etcd-client.js";
import { hasRevision } from "./commit/transaction.js";
import { EtcdEngine } from "./etcd-engine.js";
import { KeySpace } from "./record/key-space.js";
import { assertVersions } from "./version/assert-versions.js";

/** Options of `etcdEngine`. */
export interface EtcdEngineOptions {
  /** The client URLs of the members, such as `https://10.0.0.1:2379`. */
  readonly endpoints: readonly string[];
  /**
   * The first characters of all keys of the database in etcd. Databases with different prefixes are
   * independent. The default is `"keywright"`.
   */
  readonly prefix?: string | undefined;
  /** Certificates for `https://` endpoints. */
  readonly tls?: EtcdTlsOptions | undefined;
  /** The user and the password, if authentication is enabled in etcd. */
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  /**
   * For how many milliseconds a call is tried again if etcd does not answer. The default is 10,000.
   */
  readonly deadline?: number | undefined;
  /** The `--max-txn-ops` of the members if it is not 128. */
  readonly maxTxnOps?: number | undefined;
  /** The `--max-request-bytes` of the members if it is not 1,572,864. */
  readonly maxRequestBytes?: number | undefined;
  /**
   * If false, there must be a database with the prefix. True by default. `openKv` has an option of
   * the same name, for what it stores in the database.
   */
  readonly createIfMissing?: boolean | undefined;
}

/** A magic word and the format of what this package stores. */
const header = Buffer.concat([Buffer.from("keywright"), Buffer.of(0x01)]);

/**
 * Connects to an etcd cluster and returns the engine of a database in it, for `openKv`. Creates the
 * database if it does not exist. Closing the database closes the connections.
 *
 * ```ts
 * const engine = await etcdEngine({ endpoints: ["http://127.0.0.1:2379"] });
 * const kv = await openKv(engine);
 * ```
 *
 * @throws {InvalidOptionError} if an option is not valid.
 * @throws {EngineUnavailableError} if no endpoint answers, or the cluster has no leader.
 * @throws {EtcdAccessDeniedError} if etcd refuses the user, the password or the access.
 * @throws {EtcdVersionError} if a member has a version that cannot be used.
 * @throws {EtcdOutOfSpaceError} if the database does not exist and etcd refuses writes.
 * @throws {DatabaseNotFoundError} if there is no database with the prefix and none may be created.
 * @throws {DatabaseFormatError} if the keys with the prefix are not Keywright's, or have a later
 * format.
 */
export async function etcdEngine(options: EtcdEngineOptions): Promise<Engine> {
  assertOptions(options);
  const { endpoints, prefix = "keywright", tls, user, password } = options;
  const { deadline: timeout = 10_000, maxTxnOps = 128, maxRequestBytes = 1_572_864 } = options;
  const { createIfMissing = true } = options;
  const client = new EtcdClient({ endpoints, tls, user, password, timeout });
  try {
    const keys = new KeySpace(prefix);
    await assertVersions(client);
    if (!(await hasHeader(client, keys, prefix))) {
      if (!createIfMissing || !isCreationAllowed())
        throw new DatabaseNotFoundError(undefined, `database with the prefix ${prefix} in etcd`);
      await createHeader(client, keys, prefix);
    }
    return new EtcdEngine(client, keys, { maxTxnOps, maxRequestBytes });
  } catch (error) {
    client.close();
    throw error;
  }
}

/** Verifies the header of the database. Returns false if there are no keys with the prefix. */
async function hasHeader(client: EtcdClient, keys: KeySpace, prefix: string): Promise<boolean> {
  const { kvs } = await client.read("KV.Range", { ...keys.all, limit: 1 });
  const first = kvs[0];
  if (first === undefined) return false;
  // The header has the lowest key of the database.
  if (!first.key.equals(keys.header))
    throw new DatabaseFormatError(`other data is stored under the prefix ${prefix}`);
  verifyHeader(first.value, prefix);
  return true;
}

/** Stores the header. If another process stores its header first, this one is compared with it. */
async function createHeader(client: EtcdClient, keys: KeySpace, prefix: string): Promise<void> {
  const { responses } = await client.read("KV.Txn", {
    compare: [hasRevision(keys.header, 0)],
    success: [{ requestPut: { key: keys.header, value: header } }],
    failure: [{ requestRange: { key: keys.header } }],
  });
  const stored = responses[0]?.responseRange?.kvs[0];
  if (stored !== undefined) verifyHeader(stored.value, prefix);
}

function verifyHeader(stored: Buffer, prefix: string): void {
  if (stored.equals(header)) return;
  const isKeywright = stored.subarray(0, -1).equals(header.subarray(0, -1));
  const reason = isKeywright
    ? `its prefix is ${prefix}, and it has the unknown format ${stored.at(-1)}`
    : `other data is stored under the prefix ${prefix}`;
  throw new DatabaseFormatError(reason);
}

function assertOptions(options: EtcdEngineOptions): void {
  const { endpoints, prefix = "keywright", user, password } = options;
  const invalid = (option: string, reason: string) =>
    new InvalidOptionError(option, reason, "etcdEngine");
  const isList = Array.isArray(endpoints) && endpoints.length > 0;
  if (!isList || !endpoints.every(isEndpoint)) {
    throw invalid("endpoints", "must be URLs such as http://127.0.0.1:2379, at least one");
  }
  if (typeof prefix !== "string" || prefix === "" || prefix.includes("\0")) {
    throw invalid("prefix", "must be a text without a zero character");
  }
  if ((user === undefined) !== (password === undefined)) {
    throw invalid(user === undefined ? "user" : "password", "must be given with the other one");
  }
  if (![undefined, true, false].includes(options.createIfMissing)) {
    throw invalid("createIfMissing", "must be true or false");
  }
  for (const name of ["deadline", "maxTxnOps", "maxRequestBytes"] as const) {
    const value = options[name];
    const least = { deadline: 1, maxTxnOps: 128, maxRequestBytes: 1_048_576 }[name];
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= least)) {
      throw invalid(name, `must be an integer of at least ${least}`);
    }
  }
}

function isEndpoint(endpoint: unknown): boolean {
  if (typeof endpoint !== "string" || !URL.canParse(endpoint)) return false;
  const { protocol, hostname } = new URL(endpoint);
  return (protocol === "http:" || protocol === "https:") && hostname !== "";
}
