import { readFileSync } from "node:fs";

const headBytes = 13;
const sectorBytes = 512;

/** How much of what was not synced reaches the disk. */
export const fates = ["nothing", "everything", "prefix", "any"];

/** Reads the events that record-writes.c has recorded: their kind, offset and bytes. */
export function readEvents(log) {
  const bytes = readFileSync(log);
  const events = [];
  for (let at = 0; at < bytes.length; ) {
    const kind = String.fromCharCode(bytes[at]);
    const offset = Number(bytes.readBigUInt64LE(at + 1));
    const end = at + headBytes + bytes.readUInt32LE(at + 9);
    events.push({ kind, offset, bytes: bytes.subarray(at + headBytes, end) });
    at = end;
  }
  return events;
}

/**
 * Returns the content of a file and of its log that a power cut after the first `cut` events may
 * leave: undefined if there is no such file.
 *
 * What was synced is there. Of the other writes to a file, `nothing` is there, `everything`, a
 * `prefix` of them, or `any` combination of their sectors. The write that comes after the cut may
 * be there in part. A log that was created or deleted may be there or not until the folder is
 * synced.
 *
 * @param before the content of both before the first event.
 */
export function filesAfterCut(before, events, cut, fate, random) {
  const file = contentAfterCut(before.file, eventsOf(events, cut, false), fate, random);
  const isThere = hasLog(before.log !== undefined, events.slice(0, cut), fate, random);
  if (!isThere) return { file, log: undefined };
  const log = before.log ?? Buffer.alloc(0);
  return { file, log: contentAfterCut(log, eventsOf(events, cut, true), fate, random) };
}

/** Returns the events of one of the files until the cut, and its write that the cut has stopped. */
function eventsOf(events, cut, ofLog) {
  const all = events.slice(0, cut + 1).flatMap(({ kind, offset, bytes }, i) => {
    const isOfLog = kind !== kind.toLowerCase();
    return isOfLog === ofLog ? [{ kind: kind.toLowerCase(), offset, bytes, isCut: i === cut }] : [];
  });
  return {
    past: all.filter(({ isCut }) => !isCut),
    inFlight: all.filter(({ kind, isCut }) => isCut && "wd".includes(kind)),
  };
}

/** @throws {Error} if the log was created twice: its content would then be unknown. */
function hasLog(wasThere, events, fate, random) {
  let isThere = wasThere;
  let wasSynced = wasThere;
  let changes = 0;
  for (const { kind } of events) {
    if (kind === "f") wasSynced = isThere;
    if (kind !== "N" && kind !== "U") continue;
    isThere = kind === "N";
    if (++changes > 2) throw new Error("The log was created twice.");
  }
  if (fate === "everything") return isThere;
  return fate === "nothing" ? wasSynced : random.pick([wasSynced, isThere]);
}

function contentAfterCut(before, { past, inFlight }, fate, random) {
  const written = past.filter(({ kind }) => "wdt".includes(kind));
  const durable = durableWrites(past);
  const last = fate === "prefix" ? random.below(written.length + 1) : written.length;
  const content = new Content(before, [...written, ...inFlight]);
  for (const [i, write] of [...written, ...inFlight].entries()) {
    const isLater = i >= written.length;
    if (!durable.has(write)) {
      if (fate === "nothing" || (fate === "prefix" && i >= last)) continue;
      if (fate === "any" || isLater) {
        content.writeSectors(write, random);
        continue;
      }
    }
    content.write(write);
  }
  return content.bytes();
}

/** The content of a file while writes are added to it. */
class Content {
  /** It has room for all writes, and zeros after the end of the file. */
  #room;
  #size;

  constructor(before, writes) {
    const ends = writes.map(({ offset, bytes }) => offset + bytes.length);
    this.#size = before.length;
    this.#room = Buffer.alloc(ends.reduce((a, b) => Math.max(a, b), before.length));
    before.copy(this.#room);
  }

  write({ kind, offset, bytes }) {
    if (kind === "t") {
      this.#size = offset;
      this.#room.fill(0, offset);
      return;
    }
    bytes.copy(this.#room, offset);
    this.#size = Math.max(this.#size, offset + bytes.length);
  }

  /** Each sector is there or not. The file may be longer than what is there. */
  writeSectors({ kind, offset, bytes }, random) {
    if (kind === "t") {
      if (random.next() < 0.5) this.write({ kind, offset, bytes });
      return;
    }
    for (let at = 0; at < bytes.length; ) {
      const end = Math.min(bytes.length, at + sectorBytes - ((offset + at) % sectorBytes));
      if (random.next() < 0.5)
        this.write({ kind, offset: offset + at, bytes: bytes.subarray(at, end) });
      at = end;
    }
  }

  bytes() {
    return this.#room.subarray(0, this.#size);
  }
}

function durableWrites(events) {
  const durable = new Set();
  let pending = [];
  let begun = [];
  for (const event of events) {
    if (event.kind === "d") durable.add(event);
    if (event.kind === "w" || event.kind === "t") pending.push(event);
    if (event.kind === "b") begun = pending;
    if (event.kind === "e") {
      for (const write of begun) durable.add(write);
      pending = pending.slice(begun.length);
      begun = [];
    }
  }
  return durable;
}
