import { Buffer } from "node:buffer";
import type { AtomicWrite, StoredMutation } from "@keywright/core";
import { type KeyedMutation, lastOfEachKey } from "./last-of-each-key.js";
import {
  type CombineMutation,
  isCombination,
  resolveCombinations,
} from "./resolve-combinations.js";
import { textOf } from "./text-of.js";

/**
 * A condition of a write. `version` is that of a check, `mutation` that of a combination. The key
 * of `notApplied` is the index of an earlier write of the batch, in 2 bytes.
 */
export interface Condition {
  readonly kind: "check" | "isU64" | "never" | "notApplied";
  readonly key: Uint8Array;
  readonly version?: string | null;
  readonly mutation?: CombineMutation;
}

/** A mutation, and the index of its write. */
export interface Change<Mutation = Exclude<StoredMutation, CombineMutation>> {
  readonly write: number;
  readonly mutation: Mutation;
}

/** A combination. Those of one key with the same stage have the same type and become one. */
export interface Combination extends Change<CombineMutation> {
  readonly stage: number;
}

/** Writes that do not depend on each other, so that all conditions can be read first. */
export class Wave {
  /** The conditions of each write, with its index. */
  readonly conditions: (Condition & { readonly write: number })[] = [];
  /** What appends a versionstamp to its key, or is deleted if it has expired. */
  readonly others: Change[] = [];
  /** By key: the last `set` or `delete`. */
  readonly changes: Map<string, Change> = new Map();
  /** By key: its combinations, in order. */
  readonly combinations: Map<string, Combination[]> = new Map();
  /** The keys that `deleteExpired` reads or may delete. */
  readonly #hints = new Set<string>();
  /** The index of the first write. */
  #first: number | undefined;

  /**
   * Adds a write. Returns false, without a change, if it depends on a write of the wave.
   *
   * @param rivals the earlier writes of the batch that may change a key of its range checks.
   */
  add(
    index: number,
    { checks, rangeChecks = [], mutations }: AtomicWrite,
    rivals: readonly number[],
  ): boolean {
    this.#first ??= index;
    if (rivals.some((rival) => rival >= this.#first!)) return false;
    const texts = mutations.map(({ key }) => textOf(key));
    const conditions: (Condition & { readonly text: string })[] = checks.map((check) => ({
      kind: "check",
      key: check.key,
      text: textOf(check.key),
      version: check.versionstamp,
    }));
    const changes: KeyedMutation[] = [];
    for (const [i, each] of resolveCombinations(mutations, texts).entries()) {
      const text = texts[i]!;
      if ("failed" in each) {
        conditions.push({ kind: "never", key: each.failed.key, text, mutation: each.failed });
        continue;
      }
      changes.push({ mutation: each, text });
      if (isCombination(each))
        conditions.push({ kind: "isU64", key: each.key, text, mutation: each });
    }
    // A write that is always applied may replace what others of the wave store.
    const isCertain = conditions.length === 0 && rangeChecks.length === 0;
    if (this.#depends(conditions, changes, isCertain)) return false;
    for (const rival of rivals) {
      const key = Buffer.of(rival >> 8, rival & 0xff);
      this.conditions.push({ kind: "notApplied", key, write: index });
    }
    for (const each of conditions) this.conditions.push({ ...each, write: index });
    for (const each of lastOfEachKey(changes)) this.#change(index, each);
    return true;
  }

  #depends(
    conditions: readonly { readonly kind: Condition["kind"]; readonly text: string }[],
    changes: readonly KeyedMutation[],
    isCertain: boolean,
  ): boolean {
    for (const { kind, text } of conditions) {
      if (this.#isReplaced(text) || (kind === "check" && this.combinations.has(text))) return true;
    }
    return changes.some(({ mutation, text }) => {
      if (isCombination(mutation)) return false;
      if (mutation.type === "deleteExpired") {
        const hint = mutation.hint && textOf(mutation.hint.key);
        return this.#isChanged(text) || (hint !== undefined && this.#isChanged(hint));
      }
      return !isCertain && this.#isChanged(text);
    });
  }

  #isReplaced(text: string): boolean {
    return this.changes.has(text) || this.#hints.has(text);
  }

  #isChanged(text: string): boolean {
    return this.#isReplaced(text) || this.combinations.has(text);
  }

  #change(write: number, { mutation, text }: KeyedMutation): void {
    if (isCombination(mutation)) {
      const before = this.combinations.get(text) ?? [];
      const last = before.at(-1);
      const isSame = last === undefined || last.mutation.type === mutation.type;
      const stage = (last?.stage ?? 1) + (isSame ? 0 : 1);
      before.push({ write, mutation, stage });
      this.combinations.set(text, before);
    } else if (mutation.type === "deleteExpired") {
      this.others.push({ write, mutation });
      this.#hints.add(text);
      if (mutation.hint !== undefined) this.#hints.add(textOf(mutation.hint.key));
    } else if (mutation.type === "set" && mutation.endsInVersionstamp) {
      this.others.push({ write, mutation });
    } else {
      this.combinations.delete(text);
      this.changes.set(text, { write, mutation });
    }
  }
}
