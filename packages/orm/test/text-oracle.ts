import { compareKeys, type KvKeyPart } from "@keywright/core";
import { analyzeValue } from "../src/text/analyze.js";
import { occurrencesIn } from "../src/text/occurrences.js";
import { parseQuery } from "../src/text/parse-query.js";
import type { QueryTerm } from "../src/text/parsed-query.js";
import { scorerOfTerm } from "../src/text/score.js";
import type { TextIndexDefinition } from "../src/text/text-definition.js";

/** A row with its primary key. */
export interface OracleRow {
  readonly id: KvKeyPart;
  readonly [field: string]: unknown;
}

/** Finds rows by reading all of them, as a search has to find them. */
export function searchAll(
  definition: TextIndexDefinition,
  rows: readonly OracleRow[],
  text: string,
  typos = false,
): { readonly id: KvKeyPart; readonly score: number }[] {
  const query = parseQuery(text, definition, { typos });
  const analyzed = rows.map((row) => {
    const tokens = definition.fields.map(({ field }) =>
      analyzeValue(row[field], definition.analyzer),
    );
    return { row, tokens, length: tokens.reduce((sum, { length }) => sum + length, 0) };
  });
  const words = analyzed.reduce((sum, { length }) => sum + length, 0);
  const countIn = (term: QueryTerm, { tokens }: (typeof analyzed)[number]) =>
    tokens.reduce((sum, ofField, i) => {
      if (term.fields !== undefined && !term.fields.includes(i)) return sum;
      const found = occurrencesIn(term, ofField);
      return sum + definition.fields[i]!.weight * found.reduce((all, one) => all + one.weight, 0);
    }, 0);
  const scored = new Map(
    query.all.flat().map((term) => {
      const matching = analyzed.filter((one) => countIn(term, one) > 0).length;
      return [term, scorerOfTerm({ documents: rows.length, words }, matching)] as const;
    }),
  );
  if (query.all.length === 0) return [];
  return analyzed
    .filter((one) => {
      const has = (term: QueryTerm) => countIn(term, one) > 0;
      return query.all.every((terms) => terms.some(has)) && !query.none.some(has);
    })
    .map((one) => {
      const score = query.all.flat().reduce((sum, term) => {
        const count = countIn(term, one);
        return count === 0 ? sum : sum + scored.get(term)!(count, one.length);
      }, 0);
      return { id: one.row.id, score };
    })
    .sort((a, b) => b.score - a.score || compareKeys([a.id], [b.id]));
}
