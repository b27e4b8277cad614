import type { AtomicOperation, Kv, KvKey } from "@keywright/core";

/** What a crash looks like to a program that survives it. */
export class Crash extends Error {}

/**
 * A database on which the program dies at its commit number `at`: before the commit is written or after, but always
 * before it is told.
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

/** A database that calls `interfere` before each commit of an atomic operation, and `beforeGet` before each `get`. */
export function interferingKv(
  kv: Kv,
  interfere: () => Promise<void>,
  beforeGet?: (key: KvKey) => Promise<void>,
): Kv {
  return new Proxy(kv, {
    get(target, property) {
      if (property === "get" && beforeGet !== undefined) {
        return async (key: KvKey) => {
          await beforeGet(key);
          return await target.get(key);
        };
      }
      if (property === "atomic") {
        return () => {
          const operation = target.atomic();
          const commit = operation.commit.bind(operation);
          operation.commit = async () => {
            await interfere();
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

/** A database that has Deno KV's interface and no more, and refuses more than ten keys or checks at once. */
export function denoKv(kv: Kv): Kv {
  const assertFew = (count: number) => {
    if (count > 10) throw new TypeError("Too many (max 10)");
  };
  return {
    get: (key) => kv.get(key),
    set: (key, value, options) => kv.set(key, value, options),
    delete: (key) => kv.delete(key),
    list: (selector, options) => kv.list(selector, options),
    enqueue: (value, options) => kv.enqueue(value, options),
    listenQueue: (handler) => kv.listenQueue(handler),
    watch: (keys, options) => kv.watch(keys, options),
    close: () => kv.close(),
    [Symbol.dispose]: () => kv[Symbol.dispose](),
    getMany: (keys) => {
      assertFew(keys.length);
      return kv.getMany(keys);
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
