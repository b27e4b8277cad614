import type { EmbeddedKv, KvU64 } from "@keywright/core";

const registers = [0, 1, 2, 3];
const keys = registers.map((register) => ["register", register] as const);

/** How a call contradicts strict serializability. */
export type Kind = "lost" | "duplicated" | "out of order" | "inconsistent";

interface Interval {
  /** Milliseconds of the monotonic clock. */
  readonly start: number;
  readonly end: number;
}

interface Write extends Interval {
  readonly id: string;
  readonly versionstamp: string;
}

/** The versionstamps of all registers in one read. Null if a register has no value. */
interface Read extends Interval {
  readonly versions: readonly (string | null)[];
}

/** The stored proof that a write was applied. */
interface Proof {
  readonly register: number;
  readonly value: number;
}

/**
 * Writers that read all registers and increment one, and what they know of the outcomes. Each write
 * checks and sets a register, adds to a sum, and stores a proof, in one commit.
 */
export class History {
  readonly writes: Write[] = [];
  readonly reads: Read[] = [];
  /** The codes of the errors of writes and reads. */
  readonly errors: Map<string, number> = new Map();
  #isOver = false;
  #running: Promise<void>[] = [];

  /** Starts writers on each database. */
  start(databases: readonly EmbeddedKv[], writers: number): void {
    for (let i = 0; i < writers; i++) {
      this.#running.push(this.#repeat(databases[i % databases.length]!, i));
    }
  }

  /** Resolves when this many more writes have been applied. */
  async progress(count: number): Promise<void> {
    const wanted = this.writes.length + count;
    while (this.writes.length < wanted) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }

  /** The longest time between two applied writes, in milliseconds. */
  get longestGap(): number {
    const ends = this.writes.map(({ end }) => end).sort((a, b) => a - b);
    return Math.max(0, ...ends.slice(1).map((end, i) => end - ends[i]!));
  }

  /** Returns what contradicts strict serializability, given the final content of the database. */
  async contradictions(kv: EmbeddedKv): Promise<Kind[]> {
    const proofs = new Map<string, Proof & { readonly versionstamp: string }>();
    for await (const { key, value, versionstamp } of kv.list<Proof>({ prefix: ["proof"] })) {
      proofs.set(String(key[1]), { ...value, versionstamp });
    }
    const sum = (await kv.get<KvU64>(["sum"])).value?.value ?? 0n;
    return this.compare(
      [...proofs].map(([id, proof]) => ({ id, ...proof })),
      Number(sum),
    );
  }

  /** Compares what the writers know with all applied writes and their sum. */
  compare(
    applied: readonly (Proof & { readonly id: string; readonly versionstamp: string })[],
    sum: number,
  ): Kind[] {
    const found: Kind[] = [];
    const stamps = new Map(applied.map(({ id, versionstamp }) => [id, versionstamp]));
    for (const { id, versionstamp } of this.writes) {
      const stored = stamps.get(id);
      if (stored !== versionstamp) found.push(stored === undefined ? "lost" : "duplicated");
    }
    if (sum < applied.length) found.push("lost");
    if (sum > applied.length) found.push("duplicated");
    const inOrder = [...applied].sort((a, b) => (a.versionstamp < b.versionstamp ? -1 : 1));
    const byRegister = registers.map((each) => inOrder.filter(({ register }) => register === each));
    for (const list of byRegister) {
      if (list.some(({ value }, i) => value !== i + 1)) found.push("out of order");
    }
    const versions = byRegister.map((list) => list.map(({ versionstamp }) => versionstamp));
    found.push(...this.#compareTimes(versions));
    return found;
  }

  /**
   * Compares the order of versionstamps with real time. A read sees the state after `low`, the
   * newest version that it returns, and before `high`, the oldest one that replaces one of them.
   */
  #compareTimes(versions: readonly (readonly string[])[]): Kind[] {
    const found: Kind[] = [];
    const events = this.writes.map(({ start, end, versionstamp }) => {
      return { start, end, low: versionstamp, isBefore: (stamp: string) => stamp >= versionstamp };
    });
    for (const read of this.reads) {
      let [low, high] = ["", "g"];
      for (const [register, version] of read.versions.entries()) {
        const list = versions[register]!;
        const position = version === null ? -1 : list.indexOf(version);
        if (version !== null && position < 0) found.push("inconsistent");
        if ((version ?? "") > low) low = version!;
        const next = list[position + 1] ?? "g";
        if (next < high) high = next;
      }
      if (low >= high) found.push("inconsistent");
      const { start, end } = read;
      events.push({ start, end, low, isBefore: (stamp) => stamp >= high });
    }
    const starts = events.toSorted((a, b) => a.start - b.start);
    const ends = events.toSorted((a, b) => a.end - b.end);
    let newest = "";
    let ended = 0;
    for (const { start, isBefore } of starts) {
      for (; ended < ends.length && ends[ended]!.end < start; ended++) {
        if (ends[ended]!.low > newest) newest = ends[ended]!.low;
      }
      if (isBefore(newest)) found.push("out of order");
    }
    return found;
  }

  async #repeat(kv: EmbeddedKv, writer: number): Promise<void> {
    for (let n = 0; !this.#isOver; n++) {
      try {
        await this.#step(kv, (writer + n) % registers.length, `${writer}:${n}`);
      } catch (error) {
        const { code = String(error) } = error as { code?: string };
        this.errors.set(code, (this.errors.get(code) ?? 0) + 1);
        if (!/^KW_(ENGINE_UNAVAILABLE|COMMIT_AMBIGUOUS)$/.test(code)) throw error;
      }
    }
  }

  async #step(kv: EmbeddedKv, register: number, id: string): Promise<void> {
    const beforeRead = performance.now();
    const entries = await kv.getMany<number[]>(keys);
    const versions = entries.map(({ versionstamp }) => versionstamp);
    this.reads.push({ start: beforeRead, end: performance.now(), versions });
    const entry = entries[register]!;
    const value = (entry.value ?? 0) + 1;
    const start = performance.now();
    const operation = kv.atomic().check(entry).set(keys[register]!, value);
    operation.set(["proof", id], { register, value }).sum(["sum"], 1n);
    const result = await operation.commit();
    if (!result.ok) return;
    this.writes.push({ id, start, end: performance.now(), versionstamp: result.versionstamp });
  }
}
