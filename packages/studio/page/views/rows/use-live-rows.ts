import { useEffect, useState } from "preact/hooks";
import type { Row } from "../../../src/protocol/rows.js";
import type { ModelInfo } from "../../../src/protocol/studio-info.js";
import { call } from "../../api/call.js";
import { watchChanges } from "../../api/watch-changes.js";
import { keyId, keyOf } from "../../navigation/links.js";
import type { RowList } from "./row-list.js";

/** The changes of the rows of the model since the list was loaded. */
export interface LiveState {
  /** How many rows changed that are not in the list: new ones, or those of later pages. */
  readonly others: number;
  /** True if changes were missed, so that any row may have changed. */
  readonly isStale: boolean;
  /** For readers of the screen. */
  readonly news: string;
}

const calm: LiveState = { others: 0, isStale: false, news: "" };

// At most this many rows are read again one by one. With more, reloading the list is faster.
const mostReads = 200;

/** Reads shown rows again when they change. */
export function useLiveRows(model: ModelInfo, list: RowList, isLive: boolean): LiveState {
  const [state, setState] = useState(calm);

  useEffect(() => {
    setState(calm);
    if (!isLive) return undefined;
    const others = new Set<string>();
    let isCurrent = true;
    const stale = () => setState((last) => ({ ...last, isStale: true }));
    const stop = watchChanges(model.property, (keys) => {
      if (keys === null) return stale();
      const shown: Row[] = [];
      for (const key of keys) {
        const id = keyId(model, key);
        if (list.has(id)) shown.push(key);
        else others.add(id);
      }
      if (others.size > 0) setState((last) => ({ ...last, others: others.size }));
      if (shown.length > mostReads) return stale();
      readAgain(model, list, shown, () => isCurrent).then((news) => {
        if (isCurrent && news !== "") setState((last) => ({ ...last, news }));
      }, stale);
    });
    return () => {
      isCurrent = false;
      stop();
    };
  }, [model, list, isLive]);

  return state;
}

async function readAgain(
  model: ModelInfo,
  list: RowList,
  keys: readonly Row[],
  isCurrent: () => boolean,
): Promise<string> {
  let changed = 0;
  let gone = 0;
  for (const key of keys) {
    const now = await call("row", { property: model.property, key: keyOf(model, key) });
    if (!isCurrent()) return "";
    const id = keyId(model, key);
    const before = list.find(id);
    list.update(id, now);
    if (now === null) gone += 1;
    else if (before?.versionstamp !== now.versionstamp) changed += 1;
  }
  const parts = [changed > 0 && `${changed} changed`, gone > 0 && `${gone} deleted`];
  const text = parts.filter((part) => part !== false).join(", ");
  return text === "" ? "" : `Rows: ${text}.`;
}
