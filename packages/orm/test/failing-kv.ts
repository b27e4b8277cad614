import type { AtomicOperation, Kv, KvListIterator, KvPages, KvView } from "@keywright/core";

/** What a call of {@link FailingKv} rejects with. */
class PlannedFailure extends Error {}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));

/**
 * Counts the calls of a database that is in memory. The call number `failsAt` rejects at once, and
 * every other one ends a turn of the event loop later, so that those that began with it are still
 * running when its error is known.
 */
export class FailingKv {
  readonly kv: Kv;
  failsAt = Number.POSITIVE_INFINITY;
  /** The number of calls that have begun. */
  calls = 0;
  running = 0;

  /** The views that are open. */
  views = 0;
  readonly #closed = new Set<object>();

  constructor(kv: Kv) {
    this.kv = this.#failing(kv);
  }

  #failing<Reads extends object>(reads: Reads): Reads {
    return new Proxy(reads, {
      get: (target, property) => {
        const member: unknown = Reflect.get(target, property, target);
        if (property === "pages") return this.#failingPages(member as KvPages);
        if (typeof member !== "function") return member;
        const method = member.bind(target) as (...args: unknown[]) => unknown;
        if (property === "atomic")
          return () => this.#withCommit(method() as ReturnType<Kv["atomic"]>);
        if (property === "openView") {
          return (...args: unknown[]) => {
            this.views++;
            return this.#failing(method(...args) as KvView);
          };
        }
        if (property === "close" && "versionstamp" in target) {
          return () => {
            if (!this.#closed.has(target)) this.views--;
            this.#closed.add(target);
            method();
          };
        }
        if (property === "list") {
          return (...args: unknown[]) => this.#withNext(method(...args) as KvListIterator<unknown>);
        }
        const isCall = property === "get" || property === "getMany";
        return isCall ? (...args: unknown[]) => this.#call(() => method(...args)) : method;
      },
    });
  }

  #failingPages(pages: KvPages): KvPages {
    return {
      listsAtOnce: false,
      list: (...of) => this.#call(() => pages.list(...of)),
      listEach: (...of) => this.#call(() => pages.listEach(...of)),
      countEach: (...of) => this.#call(() => pages.countEach(...of)),
      getLinked: (...of) => this.#call(() => pages.getLinked(...of)),
    };
  }

  #withCommit(operation: AtomicOperation): AtomicOperation {
    const commit = operation.commit.bind(operation);
    operation.commit = () => this.#call(commit);
    return operation;
  }

  #withNext(list: KvListIterator<unknown>): KvListIterator<unknown> {
    const next = list.next.bind(list);
    list.next = () => this.#call(next);
    const nextBatch = list.nextBatch?.bind(list);
    if (nextBatch !== undefined) list.nextBatch = () => this.#call(nextBatch);
    return list;
  }

  async #call<T>(call: () => T | Promise<T>): Promise<T> {
    if (++this.calls === this.failsAt) throw new PlannedFailure();
    this.running++;
    try {
      const result = await call();
      await nextTurn();
      return result;
    } finally {
      this.running--;
    }
  }
}

/** Waits until calls that were left running would have begun others. */
export async function fewTurns(): Promise<void> {
  for (let i = 0; i < 3; i++) await nextTurn();
}
