import type { Kv, KvCommitError, KvCommitResult, KvLimits } from "@keywright/core";
import { callNextTurn as setImmediate } from "@keywright/core/platform";
import { awaitAll } from "../../promises/await-all.js";
import { kvWith } from "../../state/context/kv/kv-with.js";
import { isLimitError } from "../../state/transaction/limit-error-of.js";
import { RecordedOperation, SharedCommit } from "./shared-commit.js";

/** An operation that waits for its commit. */
interface Waiting {
  readonly position: number;
  readonly operation: RecordedOperation;
  readonly resolve: (result: KvCommitResult | KvCommitError) => void;
  readonly reject: (error: unknown) => void;
}

interface Target {
  readonly kv: Kv;
  readonly limits: Pick<KvLimits, "checks" | "mutations">;
}

/**
 * Runs writes at the same time, and commits their atomic operations together. Each write gets a
 * database that behaves as the real one does, except that it collects atomic operations. When each
 * write has ended or waits for a commit, the operations are committed in the order of the writes,
 * as many at once as the limits allow. A write that waits for something outside the database delays
 * the others by at most one turn of the event loop. If a commit fails, its operations are committed
 * one by one, so that each gets the result that it would have got alone.
 */
export async function commitTogether<T>(
  target: Target,
  writes: readonly ((kv: Kv) => Promise<T>)[],
): Promise<PromiseSettledResult<T>[]> {
  let running = writes.length;
  let waiting: Waiting[] = [];
  let inDatabase = 0;
  let isScheduled = false;
  const commitWaiting = () => {
    const batch = waiting.sort((a, b) => a.position - b.position);
    waiting = [];
    void trackWork(commitInOrder(target, batch));
  };
  const commitWhenAllWait = () => {
    if (waiting.length === 0) return;
    if (waiting.length >= running) commitWaiting();
    else commitWhenIdle();
  };
  // A write that does not use the database now may be waiting for a write that waits for its
  // commit.
  const commitWhenIdle = () => {
    if (isScheduled || inDatabase > 0) return;
    isScheduled = true;
    const seen = waiting.length;
    setImmediate(() => {
      isScheduled = false;
      if (waiting.length === 0 || inDatabase > 0) return;
      if (waiting.length === seen) commitWaiting();
      else commitWhenIdle();
    });
  };
  const trackWork = async <R>(work: Promise<R>): Promise<R> => {
    inDatabase++;
    try {
      return await work;
    } finally {
      inDatabase--;
      commitWhenAllWait();
    }
  };
  const run = async (write: (kv: Kv) => Promise<T>, position: number): Promise<T> => {
    const onCommit = (operation: RecordedOperation) =>
      new Promise<KvCommitResult | KvCommitError>((resolve, reject) => {
        waiting.push({ position, operation, resolve, reject });
        commitWhenAllWait();
      });
    try {
      return await write(collectingKv(target.kv, onCommit, trackWork));
    } finally {
      running--;
      commitWhenAllWait();
    }
  };
  return await Promise.allSettled(writes.map(run));
}

/** Returns the same database, except that `onCommit` gets the atomic operations. */
function collectingKv(
  kv: Kv,
  onCommit: (operation: RecordedOperation) => Promise<KvCommitResult | KvCommitError>,
  trackWork: <R>(work: Promise<R>) => Promise<R>,
): Kv {
  return kvWith(kv, {
    get: (key) => trackWork(kv.get(key)),
    getMany: (keys) => trackWork(kv.getMany(keys)),
    atomic: () => new RecordedOperation(onCommit),
  });
}

async function commitInOrder(target: Target, batch: readonly Waiting[]): Promise<void> {
  for (let from = 0; from < batch.length; ) {
    const shared = new SharedCommit(target.limits);
    const chunk: Waiting[] = [];
    for (const next of batch.slice(from)) {
      try {
        if (!shared.add(next.operation)) break;
        chunk.push(next);
      } catch (error) {
        if (chunk.length > 0) break;
        next.reject(error);
        from++;
        break;
      }
    }
    if (chunk.length > 0) await commitChunk(target, chunk, shared);
    from += chunk.length;
  }
}

async function commitChunk(
  target: Target,
  chunk: readonly Waiting[],
  shared: SharedCommit,
): Promise<void> {
  let result: KvCommitResult | KvCommitError;
  try {
    result = await shared.addTo(target.kv.atomic()).commit();
  } catch (error) {
    if (chunk.length > 1 && isLimitError(error)) {
      const half = Math.ceil(chunk.length / 2);
      await commitInOrder(target, chunk.slice(0, half));
      await commitInOrder(target, chunk.slice(half));
    } else if (chunk.length > 1 && isRefusal(error)) {
      await commitEach(target, chunk);
    } else {
      for (const { reject } of chunk) reject(error);
    }
    return;
  }
  if (result.ok || chunk.length === 1) for (const { resolve } of chunk) resolve(result);
  else await commitEach(target, chunk);
}

/** Commits operations one by one. All start at once, and the database processes them in order. */
async function commitEach(target: Target, chunk: readonly Waiting[]): Promise<void> {
  await awaitAll(chunk.map((next) => commitInOrder(target, [next])));
}

/** The beginnings of error messages of `@deno/kv`, which throws no error classes for them. */
const refusals = /^(KeyTooLong|ValueTooLong|AtomicWriteTooLarge|TooManyChecks|TooManyMutations)\b/;

/** True if a commit was refused because of a key or value, or because it was too large. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof TypeError) return true;
  return (
    error instanceof Error && (error.name === "DataCloneError" || refusals.test(error.message))
  );
}
