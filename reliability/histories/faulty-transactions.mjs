import { setImmediate as turn } from "node:timers/promises";
import { AmbiguousCommitError, EngineUnavailableError } from "@keywright/core";

/** Databases with a planted fault each, which the check of transactions has to find. */
export const transactionFaults = {
  "dropped range checks": (kv) =>
    withCommits(kv, (commit, make) => make({ ...commit, ranges: [] })),
  "dropped point checks": (kv) =>
    withCommits(kv, (commit, make) => make({ ...commit, checks: [] })),
  "a range check that ignores deletes": (kv) =>
    withCommits(kv, async (commit, make) => {
      for (const [selector, versionstamp] of commit.ranges) {
        for await (const entry of kv.list(selector))
          if (entry.versionstamp > versionstamp) return { ok: false };
      }
      return await make({ ...commit, ranges: [] });
    }),
  "an expired entry that a check does not notice": (kv) => {
    const expiries = new Map();
    const noted = (entry) => {
      if (entry.expireAt !== undefined) expiries.set(entry.versionstamp, entry.expireAt);
      return entry;
    };
    const isOver = ({ versionstamp }) => expiries.get(versionstamp) <= Date.now();
    const noticing = withMembers(kv, {
      openView: (...of) => {
        const view = kv.openView(...of);
        return withMembers(view, {
          get: async (key) => noted(await view.get(key)),
          getMany: async (keys) => (await view.getMany(keys)).map(noted),
          list: (...of) => withNext(view.list(...of), noted),
        });
      },
    });
    return withCommits(noticing, (commit, make) =>
      make({ ...commit, checks: commit.checks.filter((check) => !isOver(check)) }),
    );
  },
  "a view that is not one state": (kv) =>
    withMembers(kv, {
      openView: (...of) => {
        const view = kv.openView(...of);
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
      openView: (...of) => {
        if (old !== undefined && ++views % 5 === 0)
          return withMembers(old, { close: () => undefined });
        // Views that are replaced stay open until the database is closed.
        if (views % 5 === 1 || old === undefined) old = kv.openView(...of);
        return kv.openView(...of);
      },
    });
  },
  "a commit that is applied twice": (kv) =>
    withSomeCommits(kv, 10, async (commit, make) => {
      const result = await make(commit);
      if (result.ok) await make({ ...commit, checks: [], ranges: [] });
      return result;
    }),
  "a commit that is acknowledged and not made": (kv) =>
    withSomeCommits(kv, 20, (commit, make) =>
      make({ ...commit, mutations: [["set", ["elsewhere"], 1]] }),
    ),
  "a commit without its last write": (kv) =>
    withSomeCommits(kv, 20, (commit, make) =>
      make({ ...commit, mutations: commit.mutations.slice(0, -1) }),
    ),
  "a commit that is made and refused": (kv) =>
    withSomeCommits(kv, 10, async (commit, make) => {
      await make(commit);
      return { ok: false };
    }),
  "a commit that is made and said to have no effect": (kv) =>
    withSomeCommits(kv, 10, async (commit, make) => {
      await make(commit);
      throw new EngineUnavailableError("this is planted", "try again");
    }),
  "a commit of unknown outcome that is made twice": (kv) =>
    withSomeCommits(kv, 10, async (commit, make) => {
      const result = await make(commit);
      if (result.ok) await make({ ...commit, checks: [], ranges: [] });
      throw unknownOutcome();
    }),
  "a commit of unknown outcome that is made without its checks": (kv) =>
    withSomeCommits(kv, 5, async (commit, make) => {
      await make({ ...commit, checks: [], ranges: [] });
      throw unknownOutcome();
    }),
};

/**
 * Gives some commits an unknown outcome, which is not a fault. They are made, or not, or before the
 * next one.
 */
export function withUnknownOutcomes(kv) {
  const late = [];
  let unknown = 0;
  const punctual = withSomeCommits(kv, 10, async (commit, make) => {
    const kind = unknown++ % 3;
    // An entry that is written later would expire later.
    const expires = commit.mutations.some(([, , , options]) => options?.expireIn !== undefined);
    if (kind === 0) await make(commit);
    if (kind === 1 && !expires) late.push(() => make(commit));
    throw unknownOutcome();
  });
  return withCommits(punctual, async (commit, make) => {
    for (const makeLate of late.splice(0)) await makeLate();
    return await make(commit);
  });
}

function unknownOutcome() {
  return new AmbiguousCommitError(1000, new Error("this is planted"));
}

/** Makes one of a number of commits with changes in another way. */
function withSomeCommits(kv, oneOf, makeOtherwise) {
  let commits = 0;
  return withCommits(kv, (commit, make) =>
    ++commits % oneOf === 0 ? makeOtherwise(commit, make) : make(commit),
  );
}

/**
 * Makes commits in another way.
 *
 * @param makeOtherwise is called with a commit and the function that makes it.
 */
function withCommits(kv, makeOtherwise) {
  const make = (commit) => commitOf(kv, commit);
  return withMembers(kv, {
    atomic: () => {
      const planned = { checks: [], ranges: [], mutations: [] };
      const target = kv.atomic();
      return new Proxy(target, {
        get(_target, name, proxy) {
          if (name === "then") return undefined;
          return (...of) => {
            if (name === "commit") return makeOtherwise(planned, make);
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

async function commitOf(kv, { checks, ranges, mutations }) {
  const operation = kv.atomic().check(...checks);
  for (const range of ranges) operation.checkRange(...range);
  for (const [name, ...of] of mutations) operation[name](...of);
  return await operation.commit();
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
