import { setImmediate as turn } from "node:timers/promises";

/** Databases with a planted fault each, which the check of histories has to find. */
export const faults = {
  "a lost update: some checks are not made": (kv) => {
    const atomic = kv.atomic.bind(kv);
    return withMembers(kv, {
      atomic: () => {
        const operation = atomic();
        const check = operation.check.bind(operation);
        let checks = 0;
        operation.check = (...added) => (checks++ > 0 ? operation : check(...added));
        return operation;
      },
    });
  },
  "a lost commit: one of many is reported and not made": (kv) => {
    const atomic = kv.atomic.bind(kv);
    let commits = 0;
    return withMembers(kv, {
      atomic: () => {
        const operation = atomic();
        const commit = operation.commit.bind(operation);
        operation.commit = async () => {
          if (++commits % 20 !== 0) return await commit();
          const { versionstamp } = await kv.set(["elsewhere"], commits);
          return { ok: true, versionstamp };
        };
        return operation;
      },
    });
  },
  "a dirty read: a value is returned that was not committed": (kv) => {
    let reads = 0;
    return withMembers(kv, {
      getMany: async (keys) => {
        const entries = await kv.getMany(keys);
        if (++reads % 10 === 0)
          entries[0] = { ...entries[0], value: -1, versionstamp: "f".repeat(20) };
        return entries;
      },
    });
  },
  "a stale read: an entry is returned that was read before": (kv) => {
    const cache = new Map();
    let reads = 0;
    return withMembers(kv, {
      get: async (key) => {
        const old = cache.get(String(key));
        if (++reads % 5 === 0 && old !== undefined) return old;
        const entry = await kv.get(key);
        cache.set(String(key), entry);
        return entry;
      },
    });
  },
  "a torn read: keys are read one after another": (kv) =>
    withMembers(kv, {
      getMany: async (keys) => {
        const entries = [];
        for (const key of keys) {
          entries.push(await kv.get(key));
          await turn();
        }
        return entries;
      },
    }),
  "a false refusal: a commit is refused although its checks hold": (kv) => {
    const atomic = kv.atomic.bind(kv);
    let commits = 0;
    return withMembers(kv, {
      atomic: () => {
        const operation = atomic();
        const commit = operation.commit.bind(operation);
        operation.commit = async () => (++commits % 20 === 0 ? { ok: false } : await commit());
        return operation;
      },
    });
  },
};

function withMembers(kv, members) {
  return new Proxy(kv, {
    get(target, name) {
      if (Object.hasOwn(members, name)) return members[name];
      const member = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}
