import { compareBytes } from "../../derived/text/format/compare-bytes.js";
import { awaitAll } from "../../promises/await-all.js";
import type { ScoredDocs } from "./score-source.js";

/** A document that matches a query. */
export interface BestDoc {
  readonly score: number;
  /** Its primary key as bytes. */
  readonly key: Uint8Array;
}

/** The place of a document in the order of results. */
export type Position = BestDoc;

interface Candidate {
  readonly doc: number;
  readonly score: number;
}

/** Compares by score, the highest first, and then by primary key. */
function comparePositions(a: Position, b: Position): number {
  return b.score - a.score || compareBytes(a.key, b.key);
}

/** The documents that match a query, the best first. */
export class BestFirst {
  readonly #scored: readonly ScoredDocs[];
  /** The position of the last document that was chosen. */
  #last: Position | undefined;
  /** Documents that were chosen and not returned yet. */
  #chosen: BestDoc[] = [];
  #isWhole = false;
  /** How many documents were chosen together. All are looked through each time. */
  #size = 0;

  /** @param after the position after which they come. */
  constructor(scored: readonly ScoredDocs[], after: Position | undefined) {
    this.#scored = scored;
    this.#last = after;
  }

  /** False if there is none after those that were returned. */
  get hasMore(): boolean {
    return this.#chosen.length > 0 || !this.#isWhole;
  }

  /** Returns the next documents, and chooses one more, which shows if others follow. */
  async next(count: number): Promise<BestDoc[]> {
    const missing = count + 1 - this.#chosen.length;
    if (missing > 0 && !this.#isWhole) {
      this.#size = Math.max(missing, 2 * this.#size);
      const best = await bestDocs(this.#scored, this.#size, this.#last);
      this.#isWhole = best.length < this.#size;
      this.#last = best.at(-1) ?? this.#last;
      this.#chosen = this.#chosen.concat(best);
    }
    return this.#chosen.splice(0, count);
  }
}

/**
 * Returns the best documents in their order. Within a source, documents with the same score are in
 * the order of their numbers. The keys of others are compared, so few of them are read.
 *
 * @param after the position after which they come.
 */
async function bestDocs(
  scored: readonly ScoredDocs[],
  size: number,
  after: Position | undefined,
): Promise<BestDoc[]> {
  const maxScore = after?.score ?? Number.POSITIVE_INFINITY;
  const limit = lowestOfBest(scored, size, maxScore);
  const ofSources = scored.map(async ({ source, docs, scores }) => {
    const candidates: Candidate[] = [];
    for (let i = 0; i < docs.length; i++) {
      const score = scores[i]!;
      if (score >= limit && score <= maxScore) candidates.push({ doc: docs[i]!, score });
    }
    if (candidates.length === 0) return [];
    candidates.sort((a, b) => b.score - a.score || a.doc - b.doc);
    const isTied = after !== undefined && candidates[0]!.score === maxScore;
    const first = isTied ? await firstAfter(source, candidates, after!) : 0;
    const chosen = candidates.slice(first, first + size);
    const keys = await source.keysOf(chosen.map(({ doc }) => doc));
    return chosen.map(({ score }, i) => ({ score, key: keys[i]! }));
  });
  const best = (await awaitAll(ofSources)).flat();
  best.sort(comparePositions);
  return best.slice(0, size);
}

/** Returns the position of the first candidate after a position with the same score. */
async function firstAfter(
  source: ScoredDocs["source"],
  candidates: readonly Candidate[],
  after: Position,
): Promise<number> {
  let low = 0;
  let high = candidates.findIndex(({ score }) => score < after.score);
  if (high < 0) high = candidates.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const [key] = await source.keysOf([candidates[middle]!.doc]);
    if (compareBytes(key!, after.key) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Returns the lowest score that the best documents can have. Those with the highest score that is
 * allowed may come before the position, so they do not count.
 */
function lowestOfBest(scored: readonly ScoredDocs[], size: number, maxScore: number): number {
  const heap = new LowestFirst(size);
  for (const { scores } of scored) {
    for (let i = 0; i < scores.length; i++) if (scores[i]! < maxScore) heap.add(scores[i]!);
  }
  return heap.isFull ? heap.lowest : 0;
}

/** The highest numbers of those that are added. */
class LowestFirst {
  readonly #heap: Float64Array;
  #size = 0;

  constructor(capacity: number) {
    this.#heap = new Float64Array(capacity);
  }

  get isFull(): boolean {
    return this.#size === this.#heap.length;
  }

  get lowest(): number {
    return this.#heap[0]!;
  }

  add(value: number): void {
    const heap = this.#heap;
    if (this.isFull) {
      if (value <= heap[0]!) return;
      this.#sink(value);
      return;
    }
    let at = this.#size++;
    while (at > 0) {
      const parent = (at - 1) >>> 1;
      if (heap[parent]! <= value) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = value;
  }

  #sink(value: number): void {
    const heap = this.#heap;
    const size = this.#size;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) break;
      if (child + 1 < size && heap[child + 1]! < heap[child]!) child++;
      if (heap[child]! >= value) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = value;
  }
}
