import type { AnyRow } from "../../model/compiled-model.js";
import { analyzeValue } from "../../text/analyze.js";
import type { Token } from "../../text/analyzer.js";
import { occurrencesIn } from "../../text/occurrences.js";
import type { ParsedQuery, QueryTerm } from "../../text/parsed-query.js";
import type { TextIndexDefinition } from "../../text/text-definition.js";

/** A part of a text, in UTF-16 code units. The end is exclusive. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** The parts of a row's fields that a query has found, by field. */
export type Highlights = Readonly<Record<string, readonly TextRange[]>>;

/**
 * Returns what a query finds in a row. Undefined if the row does not match: an index leads to a
 * row, and the row decides.
 */
export function matchedRow(
  { fields, analyzer }: TextIndexDefinition,
  { all, none }: ParsedQuery,
  row: AnyRow,
): Highlights | undefined {
  const tokens = fields.map(({ field }) => analyzeValue(row[field], analyzer));
  const found = new Map<number, Token[]>();
  const has = (term: QueryTerm): boolean => {
    let isFound = false;
    for (const [i, ofField] of tokens.entries()) {
      if (term.fields !== undefined && !term.fields.includes(i)) continue;
      const occurrences = occurrencesIn(term, ofField);
      if (occurrences.length === 0) continue;
      isFound = true;
      found.set(i, [...(found.get(i) ?? []), ...occurrences.flatMap((one) => one.tokens)]);
    }
    return isFound;
  };
  if (none.some(has)) return undefined;
  found.clear();
  // Each alternative is looked for, so that all are highlighted.
  if (!all.every((terms) => terms.map(has).includes(true))) return undefined;
  const highlights: Record<string, readonly TextRange[]> = {};
  for (const [i, { field }] of fields.entries()) {
    if (typeof row[field] !== "string") continue;
    const ranges = rangesOf(found.get(i) ?? []);
    if (ranges.length > 0) highlights[field] = ranges;
  }
  return highlights;
}

function rangesOf(tokens: readonly Token[]): TextRange[] {
  const byStart = new Map(tokens.map(({ start, end }) => [start, { start, end }]));
  return [...byStart.values()].sort((a, b) => a.start - b.start);
}
