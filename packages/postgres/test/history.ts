import assert from "node:assert/strict";
import type { EmbeddedKv, KvU64 } from "@keywright/core";

const registers = 4;

interface Write {
  readonly id: string;
  readonly register: number;
  readonly value: number;
  /** Milliseconds of the monotonic clock. `end` is undefined if the outcome is not known. */
  readonly start: number;
  readonly end: number | undefined;
  readonly versionstamp: string | undefined;
}

/** The stored proof that a write was applied. */
interface Proof {
  readonly register: number;
  readonly value: number;
}

/**
 * Writers that increment registers, and what they know of the outcomes. Each write checks and sets a
 * register, adds to a sum, and stores a proof, in one commit.
 */
export class History {
  readonly writes: Write[] = [];
  /** The codes of the errors of writes and reads. */
  readonly errors = new Map<string, number>();
  /** The longest time between two applied writes, in milliseconds. */
  longestGap = 0;
  #lastApplied = performance.now();
  #isOver = false;
  #running: Promise<void>[] = [];

  /** Starts writers on each database. */
  start(databases: readonly EmbeddedKv[], writers: number): void {
    for (let i = 0; i < writers; i++) {
      this.#running.push(this.#write(databases[i % databases.length]!, i));
    }
  }

  /** Resolves when this many more writes have been applied. */
  async progress(count: number): Promise<void> {
    const wanted = this.#applied + count;
    while (this.#applied < wanted) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }

  /** Fails if the history is not strictly serializable, or if a write is lost or duplicated. */
  async verify(kv: EmbeddedKv): Promise<void> {
    const proofs = new Map<string, Proof & { readonly versionstamp: string }>();
    for await (const { key, value, versionstamp } of kv.list<Proof>({ prefix: ["proof"] })) {
      proofs.set(String(key[1]), { ...value, versionstamp });
    }
    for (const { id, versionstamp } of this.writes) {
      if (versionstamp === undefined) continue;
      assert.equal(proofs.get(id)?.versionstamp, versionstamp, `the write ${id} is lost`);
    }
    const sum = await kv.get<KvU64>(["sum"]);
    assert.equal(sum.value?.value ?? 0n, BigInt(proofs.size), "the sum");
    const inOrder = [...proofs.values()].sort((a, b) => (a.versionstamp < b.versionstamp ? -1 : 1));
    for (let register = 0; register < registers; register++) {
      const values = inOrder.filter((each) => each.register === register).map(({ value }) => value);
      assert.deepEqual(
        values,
        Array.from(values, (_, i) => i + 1),
        `register ${register}`,
      );
    }
    this.#verifyRealTime();
  }

  /** A write that began after another was acknowledged has a higher versionstamp. */
  #verifyRealTime(): void {
    const known = this.writes.filter(({ end }) => end !== undefined);
    const starts = known.toSorted((a, b) => a.start - b.start);
    const ends = known.toSorted((a, b) => a.end! - b.end!);
    let highest = "";
    let ended = 0;
    for (const { start, versionstamp } of starts) {
      for (; ended < ends.length && ends[ended]!.end! < start; ended++) {
        if (ends[ended]!.versionstamp! > highest) highest = ends[ended]!.versionstamp!;
      }
      assert.ok(versionstamp! > highest, "a later write has a lower versionstamp");
    }
  }

  get #applied(): number {
    return this.writes.length;
  }

  async #write(kv: EmbeddedKv, writer: number): Promise<void> {
    for (let n = 0; !this.#isOver; n++) {
      const register = (writer + n) % registers;
      const id = `${writer}:${n}`;
      try {
        const entry = await kv.get<number>(["register", register]);
        const value = (entry.value ?? 0) + 1;
        const start = performance.now();
        const operation = kv.atomic().check(entry).set(["register", register], value);
        operation.set(["proof", id], { register, value }).sum(["sum"], 1n);
        const result = await operation.commit();
        if (!result.ok) continue;
        const end = performance.now();
        const { versionstamp } = result;
        this.writes.push({ id, register, value, start, end, versionstamp });
        this.longestGap = Math.max(this.longestGap, end - this.#lastApplied);
        this.#lastApplied = end;
      } catch (error) {
        const { code = String(error) } = error as { code?: string };
        this.errors.set(code, (this.errors.get(code) ?? 0) + 1);
        if (!/^KW_(ENGINE_UNAVAILABLE|COMMIT_AMBIGUOUS)$/.test(code)) throw error;
      }
    }
  }
}
