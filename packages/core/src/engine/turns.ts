import type { Footprint, Turn, Turns } from "./engine.js";

/** The outcome of a write that was postponed because it conflicts with a call that has its turn. */
export const postponed: Error = new Error("The commit was postponed for a call that has its turn.");

/** Turns do not conflict if all of them only read a key, or only write it without reading it. */
type Use = "read" | "write" | "both";

/** The last turns of a key that do not conflict, and the ones before them, until they end. */
interface KeyLine {
  readonly use: Use;
  readonly last: Set<Place>;
  readonly before: Set<Place>;
}

/** A turn ends after this time, in milliseconds, so that no two calls block each other. */
export const longestTurn = 1000;

/** The place of a call in the line. */
export class Place {
  readonly uses: readonly (readonly [key: string, Use])[];
  /** How many turns must end before this one begins. */
  earlier = 0;
  /** The turns that wait for this one, once for each key. */
  readonly later: Place[] = [];
  isEnded = false;
  /**
   * True if the call no longer wants its turn. Its place stays in the line, because others may wait
   * for it.
   */
  isGivenUp = false;
  readonly #line: TurnLine;
  readonly #onBegin: () => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(line: TurnLine, footprint: Footprint, onBegin: () => void) {
    this.#line = line;
    this.uses = [...usesOf(footprint)];
    this.#onBegin = onBegin;
  }

  /** Tells the call that its turn begins. Returns false if the call no longer wants it. */
  begin(): boolean {
    if (!this.isGivenUp) this.#onBegin();
    return !this.isGivenUp;
  }

  /** Ends the turn after {@link longestTurn}, and calls `onLapse` before that. */
  limit(onLapse: () => void = () => undefined): void {
    this.#timer = setTimeout(() => {
      onLapse();
      this.end();
    }, longestTurn);
  }

  /** Ends the turn, or gives it up before it has begun. */
  end(): void {
    clearTimeout(this.#timer);
    this.isGivenUp = true;
    if (this.earlier === 0) this.#line.remove(this);
  }
}

/** The line of one process, also for those that are attached to it. */
export class TurnLine implements Turns {
  readonly #lines = new Map<string, KeyLine>();
  #size = 0;

  async take(footprint: Footprint, signal?: AbortSignal): Promise<Turn> {
    signal?.throwIfAborted();
    let begin: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const place = this.join(footprint, () => begin());
    if (place.earlier > 0) await untilAborted(begun, place, signal);
    place.limit();
    return place;
  }

  /**
   * Joins the line.
   *
   * @param onBegin is called when the turn begins, which may be during this call.
   */
  join(footprint: Footprint, onBegin: () => void): Place {
    const place = new Place(this, footprint, onBegin);
    this.#size++;
    for (const [key, use] of place.uses) this.#addToKey(place, key, use);
    if (place.earlier === 0) place.begin();
    return place;
  }

  get isUsed(): boolean {
    return this.#size > 0;
  }

  conflictsWith(footprint: Footprint): boolean {
    for (const [key, use] of usesOf(footprint)) {
      const line = this.#lines.get(key);
      if (line !== undefined && (mayNotJoin(line, use) || line.before.size > 0)) return true;
    }
    return false;
  }

  /** Internal: removes a turn, and begins the turns that have waited only for it. */
  remove(first: Place): void {
    const ending = [first];
    for (let place = ending.pop(); place !== undefined; place = ending.pop()) {
      if (place.isEnded) continue;
      place.isEnded = true;
      this.#removeFromKeys(place);
      for (const next of place.later) if (--next.earlier === 0 && !next.begin()) ending.push(next);
    }
  }

  #addToKey(place: Place, key: string, use: Use): void {
    const line = this.#lines.get(key);
    const joins = line !== undefined && !mayNotJoin(line, use);
    const earlier = joins ? line.before : line?.last;
    for (const other of earlier ?? []) {
      other.later.push(place);
      place.earlier++;
    }
    if (joins) line.last.add(place);
    else this.#lines.set(key, { use, last: new Set([place]), before: earlier ?? new Set() });
  }

  #removeFromKeys(place: Place): void {
    this.#size--;
    for (const [key] of place.uses) {
      const line = this.#lines.get(key)!;
      if (!line.last.delete(place)) line.before.delete(place);
      // Those that wait end after those before them.
      if (line.last.size === 0) this.#lines.delete(key);
    }
  }
}

/** Waits for the beginning of a turn, and gives it up if the signal is aborted. */
export async function untilAborted(
  begun: Promise<unknown>,
  place: Place,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (signal === undefined) {
    await begun;
    return;
  }
  let abort: () => void = () => undefined;
  const aborted = new Promise<void>((resolve) => {
    abort = resolve;
  });
  signal.addEventListener("abort", abort, { once: true });
  await Promise.race([begun, aborted]);
  signal.removeEventListener("abort", abort);
  if (signal.aborted) place.end();
  signal.throwIfAborted();
}

function mayNotJoin(line: KeyLine, use: Use): boolean {
  return use === "both" || use !== line.use;
}

function* usesOf({ reads, writes }: Footprint): Generator<readonly [string, Use]> {
  for (const key of writes) yield [key, reads.has(key) ? "both" : "write"];
  for (const key of reads) if (!writes.has(key)) yield [key, "read"];
}
