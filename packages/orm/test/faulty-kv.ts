import type { AtomicOperation, Kv } from "@keywright/core";

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

/** A database that calls `interfere` before each commit of an atomic operation. */
export function interferingKv(kv: Kv, interfere: () => Promise<void>): Kv {
  return new Proxy(kv, {
    get(target, property) {
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
