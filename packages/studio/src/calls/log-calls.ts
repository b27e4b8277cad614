import type { Kv } from "@keywright/core";
import type { FeedCommit } from "../protocol/rows.js";
import { feedCommit } from "../source/feed-commit.js";
import { modelOf, type Source } from "../source/source.js";
import type { CallsOf } from "./calls-of.js";

const versionsAtOnce = 20;
const commitsAtOnce = 50;
/** How many commits of the log one call reads at most. */
const mostRead = 2000;

/** The calls that read the log of commits, and the one that writes a version of a row again. */
export function logCalls(source: Source): CallsOf<"history" | "restoreVersion" | "feed"> {
  return {
    history: async ({ property, key, cursor }) => {
      const { repository } = modelOf(source, property);
      return await repository.history({ where: key, take: versionsAtOnce, cursor });
    },
    restoreVersion: async ({ property, key, versionstamp, ifVersion }) => {
      const { repository } = modelOf(source, property);
      const unchanged = ifVersion === null ? {} : { ifVersion };
      await repository.restoreRow({ where: key, versionstamp, ...unchanged });
      return null;
    },
    feed: async ({ property, before }) => {
      const { changes } = source.kv as Kv;
      const items: FeedCommit[] = [];
      let newest: string | null = null;
      let last: string | null = null;
      let read = 0;
      if (changes === undefined) return { items, newest, cursor: null };
      const options = { reverse: true, before: before ?? undefined, live: false };
      for await (const commit of changes.call(source.kv, options)) {
        last = commit.versionstamp;
        newest ??= last;
        const found = feedCommit(source, commit, property);
        if (found !== undefined) items.push(found);
        if (items.length === commitsAtOnce || ++read === mostRead)
          return { items, newest, cursor: last };
      }
      return { items, newest, cursor: null };
    },
  };
}
