import type { FoundRow } from "../../context/any-query.js";
import type { RowId } from "../../errors/orm-error.js";

/** What has become of one of many rows. */
export type RowResult =
  | {
      readonly ok: true;
      readonly row: FoundRow;
      /** What a hook after the write threw; absent where none did. */
      readonly hookError?: unknown;
    }
  | { readonly ok: false; readonly id?: RowId; readonly error: unknown };
