import {
  type AtomicOperation,
  type Kv,
  type KvCommitError,
  type KvLimits,
  LimitExceededError,
} from "@keywright/core";
import { limitErrorOf } from "./limit-error-of.js";
import type { ReadSet } from "./read-set.js";
import type { WriteBuffer } from "./write-buffer.js";

/** What became of a transaction: `ok` is false where something that it had read has changed. */
export type TransactionResult =
  | {
      readonly ok: true;
      /** The versionstamp of the commit, null where there was nothing to write. */
      readonly versionstamp: string | null;
    }
  | KvCommitError;

/** A database, and how much it takes at once. */
interface Target {
  readonly kv: Kv;
  readonly limits: Pick<KvLimits, "checks" | "mutations" | "keys">;
}

/**
 * Writes what is buffered in one commit, with all reads as its checks. Where there is nothing to write, finds out whether
 * the reads fit together.
 *
 * @throws {LimitExceededError} for more than the database takes at once. Nothing is written.
 */
export async function commitBuffer(
  target: Target,
  reads: ReadSet,
  buffer: WriteBuffer,
): Promise<TransactionResult> {
  const { mutationCount } = buffer;
  if (mutationCount === 0) return await verifyReads(target, reads);
  assertWithin(target, "mutations", mutationCount);
  const operation = checked(target, reads);
  buffer.addTo(operation);
  try {
    return await operation.commit();
  } catch (error) {
    throw limitErrorOf(error);
  }
}

async function verifyReads(target: Target, reads: ReadSet): Promise<TransactionResult> {
  const held = { ok: true, versionstamp: null } as const;
  if (!reads.needsVerification) return held;
  const holds = await reads.hold(target.kv, target.limits.keys);
  if (holds !== undefined) return holds ? held : { ok: false };
  const { ok } = await checked(target, reads).commit();
  return ok ? held : { ok };
}

function checked(target: Target, { checks }: ReadSet): AtomicOperation {
  assertWithin(target, "checks", checks.length);
  const operation = target.kv.atomic();
  // One by one: a call does not take a hundred thousand arguments.
  for (const check of checks) operation.check(check);
  return operation;
}

function assertWithin({ limits }: Target, name: "checks" | "mutations", actual: number): void {
  if (actual > limits[name]) throw new LimitExceededError(name, limits[name], actual);
}
