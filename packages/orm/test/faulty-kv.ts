import type {
  AtomicOperation,
  Kv,
  KvEntryMaybe,
  KvKey,
  KvListIterator,
  KvSetKey,
} from "@keywright/core";

/** What a crash looks like to a program that survives it. */
export class Crash extends Error {}

/**
 * A database on which the program dies at its commit number `at`: before the commit is written or
 * after, but always before it is told.
 */
export function crashingKv(kv: Kv, at: number, moment: "before" | "after"): Kv {
  let commits = 0;
  const guard = (operation: AtomicOperation): AtomicOperation => {
    const commit = operation.commit.bind(operation);
    operation.commit = async () => {
      commits++;
      if (commits > at || (commits === at && moment === "before")) throw new Crash();
      const result = await commit();
      if (commits === at) throw new Crash();
      return result;
    };
    return operation;
  };
  return new Proxy(kv, {
    get(target, property) {
      if (property === "atomic") return () => guard(target.atomic());
      const member: unknown = Reflect.get(target, property, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/**
 * A database whose commits fail while a function returns an error for them: before they are written
 * or after.
 */
export function interruptedKv(
  kv: Kv,
  failure: () => Error | undefined,
  moment: "before" | "after" = "before",
): Kv {
  const guard = (operation: AtomicOperation): AtomicOperation => {
    const commit = operation.commit.bind(operation);
    operation.commit = async () => {
      const error = failure();
      if (error === undefined) return await commit();
      if (moment === "after") await commit();
      throw error;
    };
    return operation;
  };
  return new Proxy(kv, {
    get(target, property) {
      if (property === "atomic") return () => guard(target.atomic());
      const member: unknown = Reflect.get(target, property, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/**
 * So many crashes are tried at once: each has a database of its own, and much of its time it waits.
 */
const atOnce = 12;

/**
 * Runs something that crashes at its first commit, then one that crashes at its second, and so on
 * until one comes to its end without. It is enough to crash after each commit: a crash before one
 * leaves what a crash after the previous one leaves.
 *
 * @param run says whether it crashed.
 * @returns at which commit the first one did not.
 */
export async function crashAtEachCommit(run: (at: number) => Promise<boolean>): Promise<number> {
  for (let from = 1; ; from += atOnce) {
    const crashed = await Promise.all(Array.from({ length: atOnce }, (_, i) => run(from + i)));
    if (crashed.includes(false)) return from + crashed.indexOf(false);
  }
}

/** A database that cannot read one state, as Deno KV, so that its reads can be interfered with. */
export function withoutViews(kv: Kv): Kv {
  const hidden: readonly unknown[] = ["openView", "checksRanges", "pages"];
  return new Proxy(kv, {
    get(target, property) {
      if (hidden.includes(property)) return undefined;
      const member: unknown = Reflect.get(target, property, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** The same reads, but all of them by `get`, `getMany` and `list`, which a test can replace. */
export function withoutPages<Reads extends object>(reads: Reads): Reads {
  return new Proxy(reads, {
    get(target, property) {
      if (property === "pages") return undefined;
      const member: unknown = Reflect.get(target, property, target);
      if (typeof member !== "function") return member;
      if (property !== "openView") return member.bind(target);
      return (...args: unknown[]) => {
        const view: unknown = member.apply(target, args);
        return view instanceof Promise ? view.then(withoutPages) : withoutPages(view as object);
      };
    },
  });
}

/**
 * A database that calls `interfere` before each commit of an atomic operation, with the keys that
 * it sets, and `beforeGet` before each `get`.
 */
export function interferingKv(
  kv: Kv,
  interfere: (keys: readonly KvSetKey[]) => Promise<void>,
  beforeGet?: (key: KvKey) => Promise<void>,
): Kv {
  return new Proxy(kv, {
    get(target, property) {
      // A view is one state, which nobody can interfere with.
      if (beforeGet !== undefined && (property === "openView" || property === "checksRanges"))
        return undefined;
      if (property === "get" && beforeGet !== undefined) {
        return async (key: KvKey) => {
          await beforeGet(key);
          return await target.get(key);
        };
      }
      if (property === "atomic") {
        return () => {
          const operation = target.atomic();
          const keys: KvSetKey[] = [];
          const set = operation.set.bind(operation);
          operation.set = (key, value, options) => {
            keys.push(key);
            return set(key, value, options);
          };
          const commit = operation.commit.bind(operation);
          operation.commit = async () => {
            await interfere(keys);
            return await commit();
          };
          return operation;
        };
      }
      const member: unknown = Reflect.get(target, property, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** An entry as Deno KV returns it: without the time at which it expires. */
function silent<E extends KvEntryMaybe<unknown>>(entry: E): E {
  const { expireAt: _, ...others } = entry as E & { readonly expireAt?: number };
  return others as unknown as E;
}

function silentList<T>(list: KvListIterator<T>): KvListIterator<T> {
  const next = list.next.bind(list);
  list.next = async () => {
    const result = await next();
    return result.done === true ? result : { ...result, value: silent(result.value) };
  };
  return list;
}

/**
 * The same database, which clears up nothing that expires: Deno KV does so when it has the time.
 */
export function lateKv(kv: Kv): Kv {
  return new Proxy(kv, {
    get(target, property) {
      if (property === "atomic") {
        return () => {
          const operation = target.atomic();
          const set = operation.set.bind(operation);
          operation.set = (key, value) => set(key, value);
          return operation;
        };
      }
      const member: unknown = Reflect.get(target, property, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/**
 * A database that has Deno KV's interface and no more, refuses more than ten keys or checks at
 * once, and does not tell when entries expire.
 */
export function denoKv(kv: Kv): Kv {
  const assertFew = (count: number) => {
    if (count > 10) throw new TypeError("Too many (max 10)");
  };
  return {
    get: async <T>(key: KvKey) => silent(await kv.get<T>(key)),
    set: (key, value, options) => kv.set(key, value, options),
    delete: (key) => kv.delete(key),
    list: (selector, options) => silentList(kv.list(selector, options)),
    enqueue: (value, options) => kv.enqueue(value, options),
    listenQueue: (handler) => kv.listenQueue(handler),
    watch: (keys, options) => {
      assertFew(keys.length);
      return kv.watch(keys, options);
    },
    close: () => kv.close(),
    [Symbol.dispose]: () => kv[Symbol.dispose](),
    getMany: async <T extends readonly unknown[]>(keys: readonly KvKey[]) => {
      assertFew(keys.length);
      const entries: readonly KvEntryMaybe<unknown>[] = await kv.getMany<unknown[]>(keys);
      return entries.map(silent) as { [K in keyof T]: KvEntryMaybe<T[K]> };
    },
    atomic: () => {
      const operation = kv.atomic();
      const check = operation.check.bind(operation);
      let checks = 0;
      operation.check = (...added) => {
        checks += added.length;
        assertFew(checks);
        return check(...added);
      };
      return operation;
    },
  };
}
