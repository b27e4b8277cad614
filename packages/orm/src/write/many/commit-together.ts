import { setImmediate } from "node:timers";
import type { Kv, KvCommitError, KvCommitResult, KvLimits } from "@keywright/core";
import { isLimitError } from "../../transaction/is-limit-error.js";
import { RecordedOperation, SharedCommit } from "./shared-commit.js";

/** What a write did, or what it threw. */
type Settled<T> = PromiseSettledResult<T>;

/** An operation that waits for its commit, and who is told of it. */
interface Waiting {
  readonly position: number;
  readonly operation: RecordedOperation;
  readonly resolve: (result: KvCommitResult | KvCommitError) => void;
  readonly reject: (error: unknown) => void;
}

/** A database, and how much it takes at once. */
interface Target {
  readonly kv: Kv;
  readonly limits: Pick<KvLimits, "checks" | "mutations">;
}

/**
 * Runs writes at the same time, each with a database of its own that behaves as the real one does, except that the atomic
 * operations of all of them are gathered: when each write waits for its commit or has ended, as many as fit together are
 * committed as one, in the order of the writes. Those that wait for something else than the database keep the others no
 * longer than a turn of the event loop. Where the commit fails, each of them is committed on its own, so that each is told
 * what it would have been told alone.
 */
export async function commitTogether<T>(
  target: Target,
  writes: readonly ((kv: Kv) => Promise<T>)[],
): Promise<Settled<T>[]> {
  let running = writes.length;
  let waiting: Waiting[] = [];
  let inDatabase = 0;
  let isScheduled = false;
  const commitWaiting = () => {
    const all = waiting.sort((a, b) => a.position - b.position);
    waiting = [];
    void during(commitInOrder(target, all));
  };
  const commitWhenAllWait = () => {
    if (waiting.length === 0) return;
    if (waiting.length >= running) commitWaiting();
    else commitWhenIdle();
  };
  /** A write that is neither here nor in the database may wait for one that is. */
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
  const during = async <R>(work: Promise<R>): Promise<R> => {
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
      return await write(gathering(target.kv, onCommit, during));
    } finally {
      running--;
      commitWhenAllWait();
    }
  };
  return await Promise.allSettled(writes.map(run));
}

/** Has it known that something is under way in the database. */
type During = <R>(work: Promise<R>) => Promise<R>;

/** The same database, whose atomic operations are handed over instead of being committed. */
function gathering(
  kv: Kv,
  onCommit: (operation: RecordedOperation) => Promise<KvCommitResult | KvCommitError>,
  during: During,
): Kv {
  return {
    get: (key) => during(kv.get(key)),
    getMany: (keys) => during(kv.getMany(keys)),
    set: (key, value, options) => kv.set(key, value, options),
    delete: (key) => kv.delete(key),
    list: (selector, options) => kv.list(selector, options),
    enqueue: (value, options) => kv.enqueue(value, options),
    listenQueue: (handler) => kv.listenQueue(handler),
    watch: (keys, options) => kv.watch(keys, options),
    close: () => kv.close(),
    [Symbol.dispose]: () => kv[Symbol.dispose](),
    atomic: () => new RecordedOperation(onCommit),
  };
}

async function commitInOrder(target: Target, all: readonly Waiting[]): Promise<void> {
  for (let from = 0; from < all.length; ) {
    const together = new SharedCommit(target.limits);
    const chunk: Waiting[] = [];
    for (const one of all.slice(from)) {
      try {
        if (!together.add(one.operation)) break;
        chunk.push(one);
      } catch (error) {
        if (chunk.length > 0) break;
        one.reject(error);
        from++;
        break;
      }
    }
    if (chunk.length > 0) await commitChunk(target, chunk, together);
    from += chunk.length;
  }
}

async function commitChunk(
  target: Target,
  chunk: readonly Waiting[],
  together: SharedCommit,
): Promise<void> {
  let result: KvCommitResult | KvCommitError;
  try {
    result = await together.commit(target.kv);
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

/** Commits operations one by one, all on their way at once: the database takes them in order. */
async function commitEach(target: Target, chunk: readonly Waiting[]): Promise<void> {
  await Promise.all(chunk.map((one) => commitInOrder(target, [one])));
}

/** What `@deno/kv` says, in an error of no class of its own. */
const refusals = /^(KeyTooLong|ValueTooLong|AtomicWriteTooLarge|TooManyChecks|TooManyMutations)\b/;

/** Whether a commit was refused before anything was written, for one of its keys or values or for all of them together. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof TypeError) return true;
  return (
    error instanceof Error && (error.name === "DataCloneError" || refusals.test(error.message))
  );
}
