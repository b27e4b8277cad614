import { KeywrightError } from "@keywright/core";

/** etcd refused the user, the password, or the user's access to the keys of the database. */
export class EtcdAccessDeniedError extends KeywrightError {
  /** The refusal, as etcd reported it. */
  readonly reason: string;

  constructor(reason: string, cause?: unknown) {
    const message = `etcd denies access: ${sentence(reason)} Check the options user and password, and give the user's role read and write permission for all keys that begin with the prefix of the database.`;
    super("KW_ETCD_ACCESS_DENIED", message, { cause });
    this.reason = reason;
  }
}

/** etcd has reached its storage quota and refuses writes. Reads still work. */
export class EtcdOutOfSpaceError extends KeywrightError {
  constructor(cause?: unknown) {
    const message =
      "etcd has used up its storage quota and refuses writes. Nothing was written. Compact its history, defragment its members and clear the alarm (etcdctl compact, defrag, alarm disarm), or raise --quota-backend-bytes. Run etcd with --auto-compaction-retention so that old revisions do not use up the quota.";
    super("KW_ETCD_OUT_OF_SPACE", message, { cause });
  }
}

/** A member of the cluster has a version of etcd that is too old or known to mix up data. */
export class EtcdVersionError extends KeywrightError {
  readonly endpoint: string;
  readonly version: string;

  constructor(endpoint: string, version: string, reason: string) {
    const message = `etcd ${version} at ${endpoint} cannot be used: ${sentence(reason)} Update all members to etcd 3.4.x (3.4.0 or later) or to 3.5.6 or later.`;
    super("KW_ETCD_VERSION_UNSUPPORTED", message);
    this.endpoint = endpoint;
    this.version = version;
  }
}

/** etcd compacted the revision of a read of several requests, each time that it was read. */
export class EtcdCompactedError extends KeywrightError {
  constructor(cause?: unknown) {
    const message =
      "etcd compacted its history again and again during a read of several requests, which need the same revision. Call it again, and run etcd with --auto-compaction-mode=periodic and --auto-compaction-retention=5m, so that it keeps its history for some minutes.";
    super("KW_ETCD_COMPACTED", message, { cause, retryable: true });
  }
}

/** etcd refused a request for a reason that is not listed above. Nothing was written. */
export class EtcdRefusedError extends KeywrightError {
  /** The refusal, as etcd reported it. */
  readonly reason: string;

  constructor(reason: string, cause?: unknown) {
    const message = `etcd refused a request: ${sentence(reason)} If the request is too large or has too many operations, divide the atomic operation, or pass the server's --max-request-bytes and --max-txn-ops to etcdEngine as maxRequestBytes and maxTxnOps.`;
    super("KW_ETCD_REFUSED", message, { cause });
    this.reason = reason;
  }
}

function sentence(text: string): string {
  return `${text.replace(/[.\s]+$/, "")}.`;
}
