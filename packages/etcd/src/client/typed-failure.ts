import { status } from "@grpc/grpc-js";
import { EngineUnavailableError } from "@keywright/core";
import {
  EtcdAccessDeniedError,
  EtcdCompactedError,
  EtcdOutOfSpaceError,
  EtcdRefusedError,
} from "../errors/etcd-errors.js";
import type { CallFailure } from "./call-failure.js";

/** Returns the error that a caller of the database gets for a call that etcd refused. */
export function typedFailure(failure: CallFailure): Error {
  const { code, details } = failure;
  if (failure.isCompacted) return new EtcdCompactedError(failure);
  if (details.includes("database space exceeded")) return new EtcdOutOfSpaceError(failure);
  const isDenied =
    code === status.PERMISSION_DENIED ||
    code === status.UNAUTHENTICATED ||
    /authentication|user name is empty|auth token/.test(details);
  if (isDenied) return new EtcdAccessDeniedError(details, failure);
  return new EtcdRefusedError(details, failure);
}

/** Returns the error that a caller gets if no endpoint has answered in time. */
export function unavailable(endpoints: readonly string[], cause: Error): EngineUnavailableError {
  return new EngineUnavailableError(
    `etcd does not answer at ${endpoints.join(", ")}`,
    "Check that most members of the cluster run and reach each other, that the endpoints are right (https:// if etcd uses TLS), and that its certificates are trusted.",
    cause,
  );
}
