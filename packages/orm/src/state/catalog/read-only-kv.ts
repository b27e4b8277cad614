import { type AtomicOperation, type Kv, ReadOnlyError } from "@keywright/core";

/** The methods that only read. Everything else that can be called is refused. */
const reading: ReadonlySet<PropertyKey> = new Set([
  ...["get", "getMany", "list", "watch", "watchRange", "openView", "openPast", "verifyFiles"],
  ...["changes", "commitAt", "lastChange", "consumers", "takeEntry"],
  ...["close", Symbol.dispose, Symbol.asyncDispose],
]);

const readOnlyOnes = new WeakSet<Kv>();

/** True if {@link readOnlyKv} has returned a database. */
export function isReadOnlyKv(kv: Kv): boolean {
  return readOnlyOnes.has(kv);
}

/**
 * Returns the same database, whose calls that write throw a {@link ReadOnlyError}. An atomic
 * operation can still check, which a transaction that has only read needs.
 */
export function readOnlyKv(kv: Kv): Kv {
  const methods = new Map<PropertyKey, unknown>([["atomic", () => checksOnly(kv.atomic())]]);
  // Not a proxy of the database, which could be frozen.
  const guarded = new Proxy({} as Kv, {
    has: (_, name) => Reflect.has(kv, name),
    get(_, name) {
      const known = methods.get(name);
      if (known !== undefined) return known;
      const value: unknown = Reflect.get(kv, name, kv);
      if (typeof value !== "function") return value;
      const method = reading.has(name) ? value.bind(kv) : () => refuse(String(name));
      methods.set(name, method);
      return method;
    },
  });
  readOnlyOnes.add(guarded);
  return guarded;
}

/** Returns an operation that has only checks. */
function checksOnly(operation: AtomicOperation): AtomicOperation {
  const allowed: ReadonlySet<PropertyKey> = new Set(["check", "checkRange", "context"]);
  const guarded: AtomicOperation = new Proxy(operation, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (name === "commit") return value.bind(target);
      if (!allowed.has(name)) return () => refuse(String(name));
      return (...of: unknown[]) => {
        value.apply(target, of);
        return guarded;
      };
    },
  });
  return guarded;
}

function refuse(operation: string): never {
  throw new ReadOnlyError(operation);
}
