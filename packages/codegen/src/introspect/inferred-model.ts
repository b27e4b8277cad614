import type { KvKey } from "@keywright/core";
import type { EntryPlace } from "./entry-place.js";

export interface InferredIndex {
  readonly name: string;
  readonly fields: readonly string[];
  readonly isUnique: boolean;
  /** True if the entries hold copies of the rows. */
  readonly hasCopies: boolean;
  /** True if each element of the field has an entry. */
  readonly isEach: boolean;
  /** True if the values are in lower case in the keys. */
  readonly isLowerCase: boolean;
  readonly prefix: KvKey;
  readonly entries: number;
  /** Fields whose values select exactly the rows with an entry. Undefined if all rows have one. */
  readonly where?: RowCondition;
  /** The number of rows without an entry for which no such fields were found. */
  readonly missing?: number;
}

export type RowCondition = Readonly<Record<string, string | number | boolean | null>>;

export interface InferredModel {
  readonly name: string;
  readonly layout: "guide" | "kvdex" | "pentagon";
  readonly rows: EntryPlace;
  /** The fields of the primary key. `missingId` is true if the rows do not contain it. */
  readonly primaryKey: readonly string[];
  readonly missingId: boolean;
  /** True if kvdex has encoded the documents, so that their fields are unknown. */
  readonly isEncoded: boolean;
  readonly indexes: readonly InferredIndex[];
}

export interface Inference {
  readonly models: readonly InferredModel[];
  /** Places whose entries belong to no model. */
  readonly others: readonly EntryPlace[];
  readonly entries: number;
}
