import { useEffect, useMemo, useState } from "preact/hooks";
import type { RowList, ShownRow } from "../row-list.js";

/** The rows of a list that a person has selected. */
export interface Selection {
  readonly size: number;
  readonly ids: ReadonlySet<string>;
  has(id: string): boolean;
  toggle(row: ShownRow): void;
  /** Selects these rows and no others. */
  set(rows: readonly ShownRow[]): void;
}

/** Returns the selection of a list. It is empty for another list. */
export function useSelection(list: RowList): Selection {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set());
  useEffect(() => setIds(new Set()), [list]);
  return useMemo(
    () => ({
      size: ids.size,
      ids,
      has: (id) => ids.has(id),
      toggle: ({ id }) =>
        setIds((last) => {
          const next = new Set(last);
          if (!next.delete(id)) next.add(id);
          return next;
        }),
      set: (rows) =>
        setIds(new Set(rows.filter(({ state }) => state !== "gone").map(({ id }) => id))),
    }),
    [ids],
  );
}
