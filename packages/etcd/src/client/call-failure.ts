import { type ServiceError, status } from "@grpc/grpc-js";

/**
 * What a failed call may have done. `not-sent`: etcd has not processed it. `unknown`: etcd may have
 * processed it, or may yet do so. `refused`: etcd has rejected it, and it has no effect.
 */
export type FailureKind = "not-sent" | "unknown" | "refused";

export class CallFailure extends Error {
  readonly kind: FailureKind;
  readonly code: number;
  readonly details: string;
  readonly endpoint: string;

  constructor(endpoint: string, error: ServiceError, kind?: FailureKind) {
    super(error.details || error.message, { cause: error });
    this.name = "CallFailure";
    this.code = error.code;
    this.details = error.details ?? "";
    this.endpoint = endpoint;
    this.kind = kind ?? kindOf(error.code, this.details);
  }

  /** True if the token of the user is no longer valid. The call had no effect. */
  get needsLogin(): boolean {
    return (
      this.code === status.UNAUTHENTICATED ||
      this.details.includes("invalid auth token") ||
      this.details.includes("auth: revision in header is old")
    );
  }

  /** True if the requested revision has been compacted. */
  get isCompacted(): boolean {
    return this.code === status.OUT_OF_RANGE && this.details.includes("compacted");
  }
}

const transient: ReadonlySet<number> = new Set([
  status.UNAVAILABLE,
  status.DEADLINE_EXCEEDED,
  status.CANCELLED,
  status.INTERNAL,
  status.UNKNOWN,
  status.ABORTED,
]);

/** Texts of failures before a request reaches a member, or before the member accepts it. */
const notSent = [
  "No connection established",
  "Name resolution failed",
  "Waiting for LB pick",
  "waiting for name resolution",
  "waiting for metadata filters",
  "Channel closed before call started",
  "etcdserver: no leader",
  "etcdserver: too many requests",
];

function kindOf(code: number, details: string): FailureKind {
  if (notSent.some((text) => details.includes(text))) return "not-sent";
  return transient.has(code) ? "unknown" : "refused";
}
