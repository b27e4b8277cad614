import { Buffer } from "node:buffer";
import type { AtomicWrite } from "@keywright/core";
import { visibleRange } from "@keywright/core/engine";
import { change, combination, condition, step } from "../sql/operations.js";
import { binaryArray } from "./binary-array.js";
import { ChangedKeys } from "./changed-keys.js";
import type { CombineMutation } from "./resolve-combinations.js";
import { Wave } from "./wave.js";

/** The maximum number of waves of a batch, because each one reads the whole batch. */
const maxWaves = 32;

/** A batch as the parameters of the function, without its id. */
export interface EncodedBatch {
  readonly size: number;
  readonly parameters: readonly unknown[];
  /** By position: the mutation to which a condition belongs. Undefined for a check. */
  readonly sources: readonly (CombineMutation | undefined)[];
  /** By position: the versionstamps of the range checks. */
  readonly rangeVersions: readonly string[];
}

/** Encodes the first of `writes`: all of them, unless many of them depend on each other. */
export function encodeBatch(writes: readonly AtomicWrite[]): EncodedBatch {
  const columns = new Columns();
  let wave = new Wave();
  const checksRanges = writes.some(({ rangeChecks = [] }) => rangeChecks.length > 0);
  const changed = new ChangedKeys();
  for (const [index, write] of writes.entries()) {
    const rivals = changed.writesIn(write.rangeChecks);
    if (!wave.add(index, write, rivals)) {
      columns.add(wave, index);
      if (columns.waves === maxWaves) return columns.encode(index);
      wave = new Wave();
      wave.add(index, write, rivals);
    }
    columns.addRanges(index, write.rangeChecks);
    if (checksRanges) changed.add(index, write);
  }
  columns.add(wave, writes.length);
  return columns.encode(writes.length);
}

/** The parameters of a batch, as they grow. */
class Columns {
  readonly #ends: number[] = [];
  readonly #steps: number[] = [];
  readonly #stages: number[] = [];
  readonly #sources: (CombineMutation | undefined)[] = [];
  readonly #ifWrites: number[] = [];
  readonly #ifKinds: number[] = [];
  readonly #ifKeys: Uint8Array[] = [];
  readonly #ifVersions: (Uint8Array | null)[] = [];
  readonly #rangeWrites: number[] = [];
  readonly #rangeStarts: Uint8Array[] = [];
  readonly #rangeEnds: Uint8Array[] = [];
  readonly #rangePrefixes: Uint8Array[] = [];
  readonly #rangeVersions: string[] = [];
  readonly #writes: number[] = [];
  readonly #kinds: number[] = [];
  readonly #keys: Uint8Array[] = [];
  readonly #values: (Uint8Array | null)[] = [];
  readonly #times: (number | null)[] = [];
  readonly #withWrites: number[] = [];
  readonly #withKinds: number[] = [];
  readonly #withStages: number[] = [];
  readonly #withKeys: Uint8Array[] = [];
  readonly #withOperands: bigint[] = [];

  get waves(): number {
    return this.#ends.length;
  }

  /** @param end the number of writes that the batch has with this wave. */
  add({ conditions, others, changes, combinations }: Wave, end: number): void {
    let steps = conditions.length > 0 ? step.conditions : 0;
    for (const { write, kind, key, version, mutation } of conditions) {
      this.#ifWrites.push(write);
      this.#ifKinds.push(condition[kind]);
      this.#ifKeys.push(key);
      this.#ifVersions.push(version == null ? null : Buffer.from(version, "hex"));
      this.#sources.push(mutation);
    }
    for (const list of [others, changes.values()]) {
      for (const { write, mutation } of list) {
        this.#writes.push(write);
        this.#keys.push(mutation.key);
        if (mutation.type === "set") {
          this.#kinds.push(mutation.endsInVersionstamp ? change.setAtVersionstamp : change.set);
          this.#values.push(mutation.value);
          this.#times.push(mutation.expireAt ?? null);
          steps |= step.sets;
        } else if (mutation.type === "delete") {
          this.#kinds.push(change.delete);
          this.#values.push(null);
          this.#times.push(null);
          steps |= step.deletes;
        } else {
          this.#kinds.push(change.deleteExpired);
          this.#values.push(mutation.hint?.key ?? null);
          this.#times.push(mutation.hint?.dueAt ?? null);
          steps |= step.deletesExpired;
        }
      }
    }
    let stages = 0;
    for (const list of combinations.values()) {
      for (const { write, mutation, stage } of list) {
        this.#withWrites.push(write);
        this.#withKinds.push(combination[mutation.type]);
        this.#withStages.push(stage);
        this.#withKeys.push(mutation.key);
        this.#withOperands.push(mutation.operand);
        stages = Math.max(stages, stage);
      }
    }
    this.#ends.push(end - 1);
    this.#steps.push(steps);
    this.#stages.push(stages);
  }

  addRanges(write: number, rangeChecks: AtomicWrite["rangeChecks"] = []): void {
    for (const { range, versionstamp } of rangeChecks) {
      const { start, end } = visibleRange(range);
      this.#rangeWrites.push(write);
      this.#rangeStarts.push(start);
      this.#rangeEnds.push(end);
      this.#rangePrefixes.push(sharedPrefix(start, end));
      this.#rangeVersions.push(versionstamp);
    }
  }

  encode(size: number): EncodedBatch {
    const parameters = [
      binaryArray("int4", this.#ends),
      binaryArray("int4", this.#steps),
      binaryArray("int4", this.#stages),
      binaryArray("int4", this.#ifWrites),
      binaryArray("int4", this.#ifKinds),
      binaryArray("bytea", this.#ifKeys),
      binaryArray("bytea", this.#ifVersions),
      binaryArray("int4", this.#rangeWrites),
      binaryArray("bytea", this.#rangeStarts),
      binaryArray("bytea", this.#rangeEnds),
      binaryArray("bytea", this.#rangePrefixes),
      binaryArray(
        "bytea",
        this.#rangeVersions.map((version) => Buffer.from(version, "hex")),
      ),
      binaryArray("int4", this.#writes),
      binaryArray("int4", this.#kinds),
      binaryArray("bytea", this.#keys),
      binaryArray("bytea", this.#values),
      binaryArray("int8", this.#times),
      binaryArray("int4", this.#withWrites),
      binaryArray("int4", this.#withKinds),
      binaryArray("int4", this.#withStages),
      binaryArray("bytea", this.#withKeys),
      `{${this.#withOperands.join(",")}}`,
    ];
    return { size, parameters, sources: this.#sources, rangeVersions: this.#rangeVersions };
  }
}

/** Returns the bytes with which every key from `start` up to `end` begins. */
function sharedPrefix(start: Uint8Array, end: Uint8Array): Uint8Array {
  let length = 0;
  while (length < start.length && start[length] === end[length]) length++;
  return start.subarray(0, length);
}
