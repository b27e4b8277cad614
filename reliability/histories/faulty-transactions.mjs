import { setImmediate as turn } from "node:timers/promises";

/** Databases with a planted fault each, which the check of transactions has to find. */
export const transactionFaults = {
  "dropped range checks": (kv) => withCommits(kv, (commit) => ({ ...commit, ranges: [] })),
  "dropped point checks": (kv) => withCommits(kv, (commit) => ({ ...commit, checks: [] })),
  "a range check that ignores deletes": (kv) =>
    withCommits(kv, async (commit) => {
      for (const [selector, versionstamp] of commit.ranges) {
        for await (const entry of kv.list(selector))
          if (entry.versionstamp > versionstamp) return undefined;
      }
      return { ...commit, ranges: [] };
    }),
  "an expired entry that a check does not notice": (kv) => {
    const expiries = new Map();
    const noted = (entry) => {
      if (entry.expireAt !== undefined) expiries.set(entry.versionstamp, entry.expireAt);
      return entry;
    };
    const isOver = ({ versionstamp }) => expiries.get(versionstamp) <= Date.now();
    const noticing = withMembers(kv, {
      openView: () => {
        const view = kv.openView();
        return withMembers(view, {
          get: async (key) => noted(await view.get(key)),
          getMany: async (keys) => (await view.getMany(keys)).map(noted),
          list: (...of) => withNext(view.list(...of), noted),
        });
      },
    });
    return withCommits(noticing, (commit) => ({
      ...commit,
      checks: commit.checks.filter((check) => !isOver(check)),
    }));
  },
  "a view that is not one state": (kv) =>
    withMembers(kv, {
      openView: () => {
        const view = kv.openView();
        const { versionstamp } = view;
        const close = () => view.close();
        return {
          versionstamp,
          limits: kv.limits,
          close,
          get: async (key) => {
            await turn();
            return await kv.get(key);
          },
          getMany: async (keys) => await kv.getMany(keys),
          list: (...of) => kv.list(...of),
        };
      },
    }),
  "a stale view": (kv) => {
    let old;
    let views = 0;
    return withMembers(kv, {
      openView: () => {
        if (old !== undefined && ++views % 5 === 0)
          return withMembers(old, { close: () => undefined });
        // Views that are replaced stay open until the database is closed.
        if (views % 5 === 1 || old === undefined) old = kv.openView();
        return kv.openView();
      },
    });
  },
  "a commit that is applied twice": (kv) => {
    let commits = 0;
    return withCommits(
      kv,
      (commit) => commit,
      async ({ mutations }) => {
        if (++commits % 10 !== 0) return;
        const operation = kv.atomic();
        for (const [name, ...of] of mutations) operation[name](...of);
        await operation.commit();
      },
    );
  },
  "a commit that is acknowledged and not made": (kv) => {
    let commits = 0;
    return withCommits(kv, (commit) =>
      ++commits % 20 === 0 ? { ...commit, mutations: [["set", ["elsewhere"], commits]] } : commit,
    );
  },
  "a commit without its last write": (kv) => {
    let commits = 0;
    return withCommits(kv, (commit) =>
      ++commits % 20 === 0 ? { ...commit, mutations: commit.mutations.slice(0, -1) } : commit,
    );
  },
};

/**
 * Changes commits before they are made.
 *
 * @param change returns the commit that is made, or undefined to refuse it.
 * @param afterwards is called with a commit that was made.
 */
function withCommits(kv, change, afterwards = async () => undefined) {
  return withMembers(kv, {
    atomic: () => {
      const planned = { checks: [], ranges: [], mutations: [] };
      const target = kv.atomic();
      return new Proxy(target, {
        get(_target, name, proxy) {
          if (name === "then") return undefined;
          return (...of) => {
            if (name === "commit") return commit(kv, planned, change, afterwards);
            if (name === "check") planned.checks.push(...of);
            else if (name === "checkRange") planned.ranges.push(of);
            else planned.mutations.push([name, ...of]);
            return proxy;
          };
        },
      });
    },
  });
}

async function commit(kv, planned, change, afterwards) {
  const changed = await change(planned);
  if (changed === undefined) return { ok: false };
  const operation = kv.atomic().check(...changed.checks);
  for (const range of changed.ranges) operation.checkRange(...range);
  for (const [name, ...of] of changed.mutations) operation[name](...of);
  const result = await operation.commit();
  if (result.ok) await afterwards(changed);
  return result;
}

function withNext(iterator, noted) {
  const next = async () => {
    const result = await iterator.next();
    if (!result.done) noted(result.value);
    return result;
  };
  return {
    next,
    return: () => iterator.return(),
    get cursor() {
      return iterator.cursor;
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

function withMembers(target, members) {
  return new Proxy(target, {
    get(_target, name) {
      if (Object.hasOwn(members, name)) return members[name];
      const member = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}
