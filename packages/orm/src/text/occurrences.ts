import type { Token } from "./analyzer.js";
import { isOneEdit } from "./edits.js";
import type { QueryTerm } from "./parsed-query.js";
import { weightOfEdited } from "./score.js";

/** A place in a field where a term of a query is. */
export interface Occurrence {
  /** The tokens of its words, in their order. */
  readonly tokens: readonly Token[];
  /** 1, or less if the word differs from the one in the query. */
  readonly weight: number;
}

/** True if the word of a row is the word of a term at a position, or begins with it. */
function isWordOf(term: QueryTerm, position: number, word: string): boolean {
  const wanted = term.words[position]!;
  return term.isPrefix && position === term.words.length - 1
    ? word.startsWith(wanted)
    : word === wanted;
}

/** Returns where a term is in a field, by the words of the field. */
export function occurrencesIn(term: QueryTerm, tokens: readonly Token[]): readonly Occurrence[] {
  const found: Occurrence[] = [];
  const at = new Map(
    term.words.length > 1 ? tokens.map((token) => [token.position, token] as const) : [],
  );
  for (const first of tokens) {
    if (!isWordOf(term, 0, first.word)) {
      if (term.allowsEdit && isOneEdit(term.words[0]!, first.word))
        found.push({ tokens: [first], weight: weightOfEdited });
      continue;
    }
    const others = term.offsets.slice(1).map((offset) => at.get(first.position + offset));
    if (others.every((token, i) => token !== undefined && isWordOf(term, i + 1, token.word)))
      found.push({ tokens: [first, ...(others as Token[])], weight: 1 });
  }
  return found;
}
