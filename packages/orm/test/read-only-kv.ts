import type { Kv } from "@keywright/core";

/** A database that is read, and throws where anything else is asked of it. */
export function readOnlyKv(kv: Kv): Pick<Kv, "get" | "getMany" | "list"> {
  return new Proxy(kv, {
    get(target, property) {
      // A symbol asks what kind of object this is, and does not reach the database.
      if (property === "limits" || typeof property === "symbol")
        return Reflect.get(target, property, target);
      if (property === "pages") return undefined;
      if (property !== "get" && property !== "getMany" && property !== "list") {
        throw new Error(`The source was asked for its ${String(property)}.`);
      }
      return target[property].bind(target);
    },
  });
}
