import type { Kv } from "@keywright/core";
import { shareCapabilities } from "../../catalog/capabilities-of.js";

/** Returns the same database with other methods. */
export function kvWith(kv: Kv, methods: Partial<Pick<Kv, "get" | "getMany" | "atomic">>): Kv {
  const changed: Kv = {
    get: (key) => kv.get(key),
    getMany: (keys) => kv.getMany(keys),
    set: (key, value, options) => kv.set(key, value, options),
    delete: (key) => kv.delete(key),
    list: (selector, options) => kv.list(selector, options),
    enqueue: (value, options) => kv.enqueue(value, options),
    listenQueue: (handler) => kv.listenQueue(handler),
    watch: (keys, options) => kv.watch(keys, options),
    close: () => kv.close(),
    [Symbol.dispose]: () => kv[Symbol.dispose](),
    atomic: () => kv.atomic(),
    ...methods,
  };
  shareCapabilities(changed, kv);
  return changed;
}
