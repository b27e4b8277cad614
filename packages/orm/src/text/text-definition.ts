import type { Analyzer } from "./analyzer.js";

/** A field whose words an index contains. */
export interface TextField {
  readonly field: string;
  /** How often an occurrence in this field counts. At least 0.01, at most 1000. */
  readonly weight: number;
}

/**
 * What an index contains, and how its words count. It is data. The weights are not part of what is
 * stored: a change of weights changes the order of results, and is no rebuild.
 */
export interface TextIndexDefinition {
  /** The fields in the order of the definition. Postings name a field by its position. */
  readonly fields: readonly TextField[];
  /** The fields whose values divide the index. A search looks at one value of each. */
  readonly key: readonly string[];
  readonly analyzer: Analyzer;
}
