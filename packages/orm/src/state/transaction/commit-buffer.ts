import type { AtomicOperation, Kv, KvCommitError, KvLimits, Turn } from "@keywright/core";
import { yieldToEventLoop } from "../../promises/yield-to-event-loop.js";
import type { WriteBuffer } from "./buffer/write-buffer.js";
import { assertWithin, limitErrorOf } from "./limit-error-of.js";
import type { ReadSet } from "./reads/read-set.js";

/** After how many checks or writes of a commit other work of the process gets its turn. */
const stepsPerTurn = 2000;

/** The result of a transaction. `ok` is false if something that it read has changed. */
export type TransactionResult =
  | {
      readonly ok: true;
      /** The versionstamp of the commit. Null if there was nothing to write. */
      readonly versionstamp: string | null;
      readonly isPostponed?: never;
    }
  | KvCommitError;

/** The turn of a transaction. Without one, its commit may be postponed for those that have one. */
export interface WithinTurn {
  readonly turn: Turn | undefined;
}

/** Returns an operation to which a transaction adds its checks and writes, and which it commits. */
export type BeginCommit = () => AtomicOperation;

interface Target {
  readonly kv: Kv;
  readonly source: Pick<Kv, "getMany">;
  readonly limits: Pick<KvLimits, "checks" | "mutations" | "keys">;
}

/**
 * Writes the buffer under all reads as checks. Without writes, only verifies the reads.
 *
 * @param within a turn, or nothing if the commit belongs to none and is not postponed either.
 * @param begin returns the operation of a commit that writes.
 */
export async function commitBuffer(
  target: Target,
  reads: ReadSet,
  buffer: WriteBuffer,
  within?: WithinTurn,
  begin: BeginCommit = () => target.kv.atomic(),
): Promise<TransactionResult> {
  const { mutationCount } = buffer;
  if (mutationCount === 0) return await verifyReads(target, reads);
  assertWithin(target.limits, "mutations", mutationCount);
  const operation = begin();
  if (within !== undefined) operation.inTurn?.(within.turn);
  let steps = 0;
  for (const part of [addChecks(operation, target, reads), buffer.addTo(operation)])
    for (const _step of part) if (++steps % stepsPerTurn === 0) await yieldToEventLoop();
  try {
    return await operation.commit();
  } catch (error) {
    throw limitErrorOf(error);
  }
}

/**
 * Checks before the commit that a buffer is not too large for it. Databases without limits are left
 * out, because counting takes time.
 *
 * @throws {LimitExceededError} if there are more checks or mutations than one commit accepts.
 */
export function assertFits(
  target: Pick<Target, "limits">,
  reads: ReadSet,
  buffer: WriteBuffer,
): void {
  const { checks, mutations } = target.limits;
  if (Number.isFinite(checks)) assertWithin(target.limits, "checks", reads.size);
  if (Number.isFinite(mutations)) assertWithin(target.limits, "mutations", buffer.mutationCount);
}

async function verifyReads(target: Target, reads: ReadSet): Promise<TransactionResult> {
  const success = { ok: true, versionstamp: null } as const;
  if (!reads.needsVerification) return success;
  const isConsistent = await reads.verify(target.source, target.limits.keys);
  if (isConsistent !== undefined) return isConsistent ? success : { ok: false };
  const operation = target.kv.atomic();
  let steps = 0;
  for (const _step of addChecks(operation, target, reads))
    if (++steps % stepsPerTurn === 0) await yieldToEventLoop();
  const { ok } = await operation.commit();
  return ok ? success : { ok };
}

/** Adds the checks of all reads to a commit, the next one in each step. */
function* addChecks(
  operation: AtomicOperation,
  target: Target,
  { checks, ranges, size }: ReadSet,
): Generator<void> {
  assertWithin(target.limits, "checks", size);
  // One call for each check, because a call cannot have a hundred thousand arguments.
  for (const check of checks) {
    operation.check(check);
    yield;
  }
  if (ranges !== undefined) yield* ranges.addTo(operation);
}
