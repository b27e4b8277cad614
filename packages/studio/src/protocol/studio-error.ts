import type { Row } from "./rows.js";
import type { KeyPart } from "./studio-info.js";

/** An error as the page shows it. */
export interface StudioError {
  /** The stable code of Keywright, such as `KW_UNIQUE_CONSTRAINT`, or null. */
  readonly code: string | null;
  readonly message: string;
  /** The fields that are not valid. */
  readonly issues: readonly {
    readonly path: readonly (string | number)[];
    readonly message: string;
  }[];
  /** The key of the damaged entry, if a stored entry is damaged. */
  readonly damagedKey: readonly KeyPart[] | null;
  /** The row that has the unique value, if another row owns it. */
  readonly owner: {
    readonly property: string;
    readonly key: Row;
    readonly fields: readonly string[];
  } | null;
}
