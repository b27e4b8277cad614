import { limbsOf } from "../../model/aggregates/amount.js";
import {
  addAmounts,
  countOf,
  countSlot,
  type RankedAmounts,
} from "../../model/aggregates/ranked-amounts.js";
import { isSameKey } from "../../model/keys/key-parts.js";
import { again, retry } from "../../state/transaction/retry.js";
import { type Boundary, first, intervalSize, topLevel } from "./rank-keys.js";
import type { RankedReads } from "./ranked-table.js";
import { amountsOfEntries, listEntries } from "./read-entries.js";
import {
  type EntryRange,
  listGroups,
  nextGroup,
  type OnReads,
  TornRanksError,
} from "./read-intervals.js";

/** What to find out about a range. */
export interface WalkOptions {
  /** How many entries to pass. All of the range if absent. */
  readonly skip?: bigint | undefined;
  /** True to add up the sums too. Then the rows at both ends of the range are read. */
  readonly withSums?: boolean;
  readonly onReads: OnReads;
}

export interface WalkResult {
  /** The sum over the entries that were passed. */
  readonly amounts: RankedAmounts;
  /** The entry after those. Undefined if the range has no more. */
  readonly position: Boundary | undefined;
}

const maxAttempts = 10;

/**
 * Counts the entries of a range, or finds the entry at a position in it. The number of reads grows
 * with the logarithm of the number of entries: the walk passes single entries up to the next
 * interval of level 1, then intervals of level 1 up to the next one of level 2, and so on, and then
 * goes back down to the end of the range.
 *
 * Each step is exact at the time when it is read, and no entry belongs to two steps. So an entry
 * that exists all the time counts once. One that is written during the walk may count or not.
 */
export async function walkEntries(
  table: RankedReads,
  range: EntryRange,
  options: WalkOptions,
): Promise<WalkResult> {
  return await retry(async (attempt) => {
    try {
      // If intervals are merged all the time, the entries themselves are counted.
      return await new Walk(table, range, options).run(attempt < maxAttempts ? topLevel : 0);
    } catch (error) {
      if (!(error instanceof TornRanksError)) throw error;
      return again;
    }
  });
}

class Walk {
  readonly #table: RankedReads;
  readonly #range: EntryRange;
  readonly #options: WalkOptions;
  readonly #amounts: RankedAmounts = new Map();

  constructor(table: RankedReads, range: EntryRange, options: WalkOptions) {
    this.#table = table;
    this.#range = range;
    this.#options = options;
  }

  async run(maxLevel: number): Promise<WalkResult> {
    const { onReads } = this.#options;
    const { prefix, start = prefix } = this.#range;
    let level = start.length === 0 ? maxLevel : 0;
    let position = start.length === 0 ? first : start;
    while (level < maxLevel) {
      const next = await nextGroup(this.#table, level + 1, position, this.#range, onReads);
      if (next === undefined) break;
      if (level === 0) {
        const found = await this.#passEntries(position, { prefix: [], end: next });
        if (found !== undefined) return { amounts: this.#amounts, position: found };
      } else {
        const reached = await this.#passGroups(level, position, next);
        if (!isSameKey(reached, next)) {
          position = reached;
          break;
        }
      }
      position = next;
      level++;
    }
    for (; level > 0; level--) position = await this.#passGroups(level, position);
    const found = await this.#passEntries(position, this.#range);
    return { amounts: this.#amounts, position: found };
  }

  /** About as many entries as the intervals of a group have. */
  get #pageSize(): number {
    const { batchSize, sums } = this.#table;
    return Math.min(batchSize, 2 * intervalSize.parts * (1 + sums.flatMap(limbsOf).length));
  }

  get #left(): bigint | undefined {
    const { skip } = this.#options;
    return skip === undefined ? undefined : skip - countOf(this.#amounts);
  }

  /**
   * Passes groups of a level up to the end of the range or a boundary. Stops before a group that
   * has more entries than are left to pass. Returns where that group begins.
   */
  async #passGroups(level: number, from: Boundary, to?: Boundary): Promise<Boundary> {
    // The numbers of the last interval sort before this part. So its group is also read.
    const range = to === undefined ? this.#range : { prefix: [], end: [...to, 1] };
    let position = from;
    const { skip, onReads } = this.#options;
    // The step that finds an entry ends within the intervals of one group.
    const limit = skip === undefined ? this.#table.batchSize : this.#pageSize;
    for await (const group of listGroups(this.#table, level, from, range, onReads, limit)) {
      const { amounts, end } = group;
      const left = this.#left;
      if (end === undefined || (left !== undefined && countOf(amounts) > left)) {
        if (to !== undefined && end === undefined && !isSameKey(position, to))
          throw new TornRanksError();
        return position;
      }
      addAmounts(this.#amounts, amounts);
      position = end;
    }
    return position;
  }

  /** Passes entries. Returns the first entry that is not passed, if there is one. */
  async #passEntries(from: Boundary, range: EntryRange): Promise<Boundary | undefined> {
    const { withSums = false, onReads } = this.#options;
    const left = this.#left;
    const limit = left === undefined ? Number.POSITIVE_INFINITY : Number(left) + 1;
    for await (const batch of listEntries(this.#table, from, range, onReads, limit)) {
      const remaining = this.#left;
      const found = remaining === undefined ? undefined : batch[Number(remaining)];
      const passed = found === undefined ? batch : batch.slice(0, Number(remaining));
      addAmounts(
        this.#amounts,
        withSums
          ? await amountsOfEntries(this.#table, passed, onReads)
          : new Map([[countSlot, BigInt(passed.length)]]),
      );
      if (found !== undefined) return found.key.slice(1);
    }
    return undefined;
  }
}
