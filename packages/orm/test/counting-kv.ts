import type { AtomicOperation, Kv, KvPages } from "@keywright/core";

/** How often each method of a database was called. */
export interface KvCalls {
  get: number;
  getMany: number;
  list: number;
  commit: number;
}

/** Whether a read is one of a catalog, which programs look at again every now and then. */
export function isOfCatalog([key]: readonly unknown[]): boolean {
  return Array.isArray(key) && key[0] === "__keywright" && key[1] === "catalog";
}

/** A database, and how often its methods are called from now on, but for reads of the catalog. */
export function countingKv(kv: Kv): { readonly kv: Kv; readonly calls: KvCalls } {
  const calls: KvCalls = { get: 0, getMany: 0, list: 0, commit: 0 };
  const counted = <Reads extends object>(reads: Reads): Reads =>
    new Proxy(reads, {
      get(target, property) {
        const member: unknown = Reflect.get(target, property, target);
        if (property === "pages") return countedPages(member as KvPages, (name) => calls[name]++);
        if (typeof member !== "function") return member;
        return (...given: unknown[]) => {
          if (isOfCatalog(given)) return member.apply(target, given);
          if (property === "get" || property === "getMany" || property === "list")
            calls[property]++;
          const result: unknown = member.apply(target, given);
          if (property === "atomic") return countingCommit(result as AtomicOperation, calls);
          return property === "openView" && !(result instanceof Promise)
            ? counted(result as object)
            : result;
        };
      },
    });
  return { kv: counted(kv), calls };
}

/** Pages whose calls are counted as those of the method of a database that reads the same. */
export function countedPages(
  pages: KvPages | undefined,
  onCall: (name: "list" | "getMany", entries: number) => void,
): KvPages | undefined {
  return (
    pages && {
      listsAtOnce: pages.listsAtOnce,
      list: (selector, options) => {
        onCall("list", options.limit);
        return pages.list(selector, options);
      },
      listEach: (prefixes, options) => {
        onCall("list", options.most);
        return pages.listEach(prefixes, options);
      },
      countEach: (prefixes, keyLength) => {
        onCall("list", prefixes.length);
        return pages.countEach(prefixes, keyLength);
      },
      getLinked: (entries, prefix, from) => {
        onCall("getMany", entries.length);
        return pages.getLinked(entries, prefix, from);
      },
    }
  );
}

function countingCommit(operation: AtomicOperation, calls: KvCalls): AtomicOperation {
  const commit = operation.commit.bind(operation);
  operation.commit = () => {
    calls.commit++;
    return commit();
  };
  return operation;
}
