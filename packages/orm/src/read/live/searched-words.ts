import type { KvKey } from "@keywright/core";
import { Buffer } from "@keywright/core/platform";
import { bytesIn, damageOf } from "../../derived/text/stored-bytes.js";
import {
  documentKey,
  groupPrefix,
  primaryKeyOfFresh,
  stateKey,
} from "../../derived/text/text-keys.js";
import type { ReadView } from "../../state/context/read-view.js";
import { readStored } from "../../state/rows/read-rows.js";
import { matchesOf } from "../search/match-terms.js";
import { scoreSource } from "../search/score-source.js";
import { type SearchState, scorersOf } from "../search/search-rows.js";
import { freshSource } from "../search/sources/fresh-source.js";
import type { TextSource } from "../search/sources/text-source.js";
import { termsOf, wantedWords } from "../search/wanted-words.js";

/** If more documents have a term, or more have changed, the search is made again at once. */
const maxMatches = 50_000;
const maxChanged = 200;

interface FreshDoc {
  readonly length: number;
  /** True if it has a term of the query. */
  readonly isMatch: boolean;
}

interface SegmentDocs {
  readonly lengths: Int32Array;
  /** Those that have a term of the query. */
  readonly matching: ReadonlySet<number>;
  /** 1 for those that had gone before the search. */
  readonly goneBefore: Uint8Array | undefined;
  /** Those that have gone since. */
  readonly gone: Set<number>;
}

/**
 * What a search has read of the words of rows. A change of a row without any term of the query
 * still changes the numbers of rows and words, and so the scores. If the order of the scores stays
 * the same, so does the result, and the search need not be repeated.
 */
export class SearchedWords {
  readonly #state: SearchState;
  readonly #lowest: number;
  readonly #fresh = new Map<string, FreshDoc>();
  readonly #segments = new Map<number, SegmentDocs>();
  #documents: number;
  #words: number;

  private constructor(state: SearchState, lowest: number) {
    const { scored, statistics } = state;
    // The postings of the words are not needed any more.
    const slim = scored.map((each) => ({ ...each, source: withoutWords(each.source) }));
    this.#state = { ...state, sources: [], scored: slim };
    this.#lowest = lowest;
    this.#documents = statistics.documents;
    this.#words = statistics.words;
  }

  /**
   * @param lowest the lowest score on the page. 0 if no row that matches comes after it.
   * @returns undefined if very many documents have a term.
   */
  static async of(state: SearchState, lowest: number): Promise<SearchedWords | undefined> {
    const all = state.matches.flatMap((ofSource) => [...ofSource.values()]);
    if (all.reduce((sum, { docs }) => sum + docs.length, 0) > maxMatches) return undefined;
    const searched = new SearchedWords(state, lowest);
    for (const [i, source] of state.sources.entries()) {
      const matching = new Set<number>();
      for (const { docs } of state.matches[i]!.values()) for (const doc of docs) matching.add(doc);
      await searched.#add(source, matching);
    }
    return searched;
  }

  async #add(source: TextSource, matching: ReadonlySet<number>): Promise<void> {
    const { lengths, gone, segment } = source;
    if (segment !== undefined) {
      this.#segments.set(segment, { lengths, matching, goneBefore: gone, gone: new Set() });
      return;
    }
    const docs = Array.from(lengths, (_, doc) => doc).filter((doc) => gone?.[doc] !== 1);
    for (const [i, key] of (await source.keysOf(docs)).entries()) {
      const doc = docs[i]!;
      this.#fresh.set(idOf(key), { length: lengths[doc]!, isMatch: matching.has(doc) });
    }
  }

  /**
   * Returns true if the result may be another one after a change of entries of the index.
   *
   * @param keys the keys of fresh documents and of marks that have changed.
   */
  async mayDiffer(view: ReadView, keys: readonly KvKey[]): Promise<boolean> {
    const { length } = groupPrefix(this.#state.group);
    const fresh: KvKey[] = [];
    for (const key of keys) {
      const [section, segment, doc] = key.slice(length);
      if (section === "fresh") fresh.push(key);
      else if (typeof doc === "number" && this.#loses(segment as number, doc)) return true;
    }
    if (fresh.length > maxChanged) return true;
    try {
      if (await this.#gains(view, fresh)) return true;
    } catch (error) {
      throw damageOf(error, view.model, stateKey(this.#state.group));
    }
    return !this.#keepsOrder();
  }

  /** Counts a document that has gone. Returns true if it has a term. */
  #loses(segment: number, doc: number): boolean {
    const docs = this.#segments.get(segment);
    if (docs === undefined || docs.matching.has(doc)) return true;
    const { goneBefore, gone, lengths } = docs;
    if (goneBefore?.[doc] === 1 || gone.has(doc)) return false;
    gone.add(doc);
    this.#documents--;
    this.#words -= lengths[doc]!;
    return false;
  }

  /** Counts fresh documents that are new, changed or removed. Returns true if one has a term. */
  async #gains(view: ReadView, keys: readonly KvKey[]): Promise<boolean> {
    if (keys.length === 0) return false;
    const { group, parsed, weights } = this.#state;
    const terms = termsOf(parsed);
    const wanted = wantedWords(terms);
    for (const entry of await readStored(view, keys)) {
      const key = documentKey(primaryKeyOfFresh(group, entry.key));
      const id = idOf(key);
      const before = this.#fresh.get(id);
      if (before?.isMatch) return true;
      if (before !== undefined) {
        this.#fresh.delete(id);
        this.#documents--;
        this.#words -= before.length;
      }
      if (entry.versionstamp === null) continue;
      const bytes = bytesIn(view.model, entry);
      const source = freshSource(group, [{ key, bytes }], wanted);
      // The stream has to learn when the row expires.
      if (source.expireAt !== Number.POSITIVE_INFINITY) return true;
      if (terms.some((term) => matchesOf(source, term, weights).docs.length > 0)) return true;
      const length = source.lengths[0]!;
      this.#fresh.set(id, { length, isMatch: false });
      this.#documents++;
      this.#words += length;
    }
    return false;
  }

  /** True if the rows of the page are still the best ones, in the same order. */
  #keepsOrder(): boolean {
    const { parsed, matches, scored, statistics, isResumed } = this.#state;
    const documents = this.#documents;
    const words = this.#words;
    const isSame = documents === statistics.documents && words === statistics.words;
    if (isSame || isResumed) return true;
    const scorers = scorersOf(termsOf(parsed), { ...statistics, documents, words });
    const now = scored.flatMap(({ source }, i) => [
      ...scoreSource(source, parsed, matches[i]!, scorers).scores,
    ]);
    const before = scored.flatMap(({ scores }) => [...scores]);
    return hasSameOrder(before, now, this.#lowest);
  }
}

/**
 * Compares two scores of each document. True if those whose first score is at least `lowest` have
 * the same order in both, and all others stay below them.
 */
function hasSameOrder(before: readonly number[], now: readonly number[], lowest: number): boolean {
  const top: number[] = [];
  let below = -1;
  for (const [i, score] of before.entries()) {
    if (score >= lowest) top.push(i);
    else below = Math.max(below, now[i]!);
  }
  top.sort((a, b) => before[b]! - before[a]!);
  for (const [place, i] of top.entries()) {
    const other = top[place + 1];
    if (other === undefined) return now[i]! > below;
    const isTie = before[i] === before[other];
    if (isTie ? now[i] !== now[other] : now[i]! <= now[other]!) return false;
  }
  return true;
}

function withoutWords(source: TextSource): TextSource {
  return { ...source, words: new Map(), ranges: new Map(), keysOf: async () => [] };
}

function idOf(key: Uint8Array): string {
  return Buffer.from(key).toString("latin1");
}
