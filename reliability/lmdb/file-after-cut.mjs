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
 * Returns the content of the file that a power cut after the first `cut` events may leave.
 *
 * What was synced is there. Of the other writes, `nothing` is there, `everything`, a `prefix` of
 * them, or `any` combination of their sectors. The write that comes after the cut may be there in
 * part.
 */
export function fileAfterCut(before, events, cut, fate, random) {
  const written = events.slice(0, cut).filter(({ kind }) => "wdt".includes(kind));
  const next = events[cut];
  const inFlight = next !== undefined && "wd".includes(next.kind) ? [next] : [];
  const durable = durableWrites(events.slice(0, cut));
  const last = fate === "prefix" ? random.below(written.length + 1) : written.length;
  let content = Buffer.from(before);
  for (const [i, write] of [...written, ...inFlight].entries()) {
    const isLater = i >= written.length;
    if (!durable.has(write)) {
      if (fate === "nothing" || (fate === "prefix" && i >= last)) continue;
      if (fate === "any" || isLater) {
        content = writeSectors(content, write, random);
        continue;
      }
    }
    content = writeAll(content, write);
  }
  return content;
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

function writeAll(content, { kind, offset, bytes }) {
  if (kind === "t") return resized(content, offset);
  const result = resized(content, Math.max(content.length, offset + bytes.length));
  bytes.copy(result, offset);
  return result;
}

/** Each sector is there or not. The file may be longer than what is there. */
function writeSectors(content, { kind, offset, bytes }, random) {
  if (kind === "t") return random.next() < 0.5 ? resized(content, offset) : content;
  let result = content;
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(bytes.length, at + sectorBytes - ((offset + at) % sectorBytes));
    if (random.next() < 0.5)
      result = writeAll(result, { kind, offset: offset + at, bytes: bytes.subarray(at, end) });
    at = end;
  }
  return result;
}

function resized(content, size) {
  if (size <= content.length) return content.subarray(0, Math.max(size, 0));
  return Buffer.concat([content, Buffer.alloc(size - content.length)]);
}
