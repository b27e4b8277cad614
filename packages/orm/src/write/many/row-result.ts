import type { FoundRow } from "../../context/any-query.js";
import type { RowId } from "../../errors/orm-error.js";

/** The result of writing one of many rows. */
export type RowResult =
  | {
      readonly ok: true;
      readonly row: FoundRow;
      /** The error of a hook after the write. Absent if no hook threw. */
      readonly hookError?: unknown;
    }
  | { readonly ok: false; readonly id?: RowId; readonly error: unknown };
