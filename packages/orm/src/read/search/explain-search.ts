import { readFresh } from "../../derived/text/read-fresh.js";
import { type GoneDocs, readGone } from "../../derived/text/segment-source.js";
import { stateKey, type TextGroup } from "../../derived/text/text-keys.js";
import { type Segment, textState } from "../../derived/text/text-state.js";
import type { ReadMeter } from "../../state/context/read-meter.js";
import type { ReadView } from "../../state/context/read-view.js";
import type { IgnoredPart, QueryTerm } from "../../text/parsed-query.js";
import { type AnySearchQuery, parsedSearch } from "./parsed-search.js";
import { termsOf, wantedWords } from "./wanted-words.js";

/** One thing that a search looks for. */
export interface ExplainedTerm {
  /** The words as the index has them, in their order. Several are a phrase. */
  readonly words: readonly string[];
  /** True if rows match whose words begin with the last one. */
  readonly isPrefix: boolean;
  /** True if words match too that differ by one edit. */
  readonly typos: boolean;
  /** The fields in which it is looked for. */
  readonly fields: readonly string[];
}

/** How a search is answered, with its cost. */
export interface SearchExplanation {
  readonly model: string;
  /** The name of the full-text index. */
  readonly index: string;
  /** A row matches if it has a term of each list. A list has several if they are joined by `OR`. */
  readonly terms: readonly (readonly ExplainedTerm[])[];
  /** A row with one of these does not match. */
  readonly excluded: readonly ExplainedTerm[];
  /** The parts of the query that have no effect, and why. */
  readonly ignored: readonly IgnoredPart[];
  /**
   * The parts of the index with the same values of `key`, each with the number of its rows. The
   * words of the query are looked up in each of them. It may count rows that have changed since.
   */
  readonly segments: readonly { readonly rows: number }[];
  /** The number of rows whose words are in no segment yet. A search reads all words of each. */
  readonly fresh: number;
  /**
   * About how many entries and rows the first page reads, if it is full and has no `filter`. It is
   * more if the entry of a word does not fit into one value, or if prefixes and typos match words
   * of many entries.
   */
  readonly estimatedReads: number;
}

/**
 * Returns how a search is answered. Reads the list of segments, the words of fresh rows, and which
 * documents are gone, but neither the words of segments nor rows. Throws the errors of
 * `searchRows`.
 */
export async function explainSearch(
  view: ReadView,
  query: AnySearchQuery,
  meter: ReadMeter,
): Promise<SearchExplanation> {
  const { group, parsed, take } = await parsedSearch(view, query);
  const { index } = group;
  meter.index = index.name;
  meter.add(1);
  const { segments } = textState(view.model, await view.kv.get(stateKey(group)));
  const fresh = (await readFresh(view, group)).length;
  let marks = 0;
  const count = () => marks++;
  const gone = segments.length === 0 ? noneGone : await readGone(view, group, count);
  meter.add(fresh + marks);
  const explained = (term: QueryTerm) => explainedTerm(group, term);
  return {
    model: view.model.name,
    index: index.name,
    terms: parsed.all.map((terms) => terms.map(explained)),
    excluded: parsed.none.map(explained),
    ignored: parsed.ignored,
    segments: segments.map(({ docs }) => ({ rows: docs })),
    fresh,
    estimatedReads:
      parsed.all.length === 0
        ? 0
        : 1 + fresh + marks + readsOfWords(segments, fresh, gone, termsOf(parsed), take),
  };
}

function explainedTerm(
  { index }: TextGroup,
  { words, isPrefix, allowsEdit, fields }: QueryTerm,
): ExplainedTerm {
  const names = index.text!.fields.map(({ field }) => field);
  return {
    words,
    isPrefix,
    typos: allowsEdit,
    fields: fields === undefined ? names : fields.map((position) => names[position]!),
  };
}

const noneGone: GoneDocs = new Map();

/** Returns about how many entries of segments and rows are read. */
function readsOfWords(
  segments: readonly Segment[],
  fresh: number,
  gone: GoneDocs,
  terms: readonly QueryTerm[],
  take: number,
): number {
  const { exact, ranges } = wantedWords(terms);
  // A page looks for one row more than it returns, but does not read it.
  const size = take + 1;
  let reads = 0;
  let rows = fresh;
  for (const { id, docs, docsPerBlock } of segments) {
    rows += docs - (gone.get(id)?.length ?? 0);
    reads += exact.size + ranges.length + Math.min(size, Math.ceil(docs / docsPerBlock));
  }
  return reads + Math.min(take, rows);
}
