import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";

const pageSize = 4096;

/** How much of what was not synced reaches the disk. */
export const fates = ["nothing", "everything", "prefix", "torn", "any"];

/**
 * Reads the events that record-files.c has recorded. Each is a line as an array of words.
 *
 * @throws {Error} if the process did something to the files that the events do not describe.
 */
export function readEvents(log) {
  const events = readFileSync(log, "utf8").trimEnd().split("\n");
  const unmodelled = events.find((event) => event.startsWith("unmodelled"));
  if (unmodelled !== undefined) throw new Error(unmodelled);
  return events.map((event) => event.split(" "));
}

/**
 * Writes the files that a power cut after the first `cut` events may leave into an empty folder.
 *
 * Synced bytes are there, and so are the entries of a folder that was synced after their last
 * change. The fate decides about the rest:
 * - `nothing`: all of it is lost;
 * - `everything`: all of it is there;
 * - `prefix`: the first changes of the folder are there, and the first bytes of each file;
 * - `torn`: the same, with pages of zeros in between;
 * - `any`: each change of the folder is there or not, and each page of a file. A deletion is only
 *   there if all changes before it are: no file system loses a rename and keeps a later deletion.
 */
export async function writeDiskState(events, cut, { fate, random, saved, folder }) {
  const { entries, files } = stateAfter(events.slice(0, cut), fate, random);
  const written = new Set();
  for (const [name, inode] of entries) {
    const { size, synced } = files.get(inode) ?? { size: 0, synced: 0 };
    const content = readFileSync(join(saved, inode)).subarray(0, size);
    await writeFile(join(folder, name), afterCut(content, synced, fate, random));
    written.add(name);
  }
  return written;
}

/** Returns the inode of each name on disk, and how much of each file was written and synced. */
function stateAfter(events, fate, random) {
  const files = new Map();
  const synced = new Map();
  let changes = [];
  for (const [kind, ...words] of events) {
    if (kind === "size" || kind === "sync") {
      const file = files.get(words[0]) ?? { size: 0, synced: 0 };
      file.size = Math.max(file.size, Number(words[1]));
      if (kind === "sync") file.synced = Math.max(file.synced, Number(words[1]));
      files.set(words[0], file);
    } else if (kind === "folder") {
      for (const change of changes) applyChange(synced, change);
      changes = [];
    } else if (kind === "name" || kind === "rename" || kind === "unlink") {
      changes.push([kind, ...words]);
    }
  }
  for (const change of survivingChanges(changes, fate, random)) applyChange(synced, change);
  return { entries: synced, files };
}

function applyChange(entries, [kind, ...words]) {
  if (kind === "name") entries.set(words[0], words[1]);
  if (kind === "unlink") entries.delete(words[0]);
  if (kind !== "rename") return;
  const [from, to, inode] = words;
  entries.delete(from);
  entries.set(to, inode);
}

function survivingChanges(changes, fate, random) {
  if (fate === "nothing") return [];
  if (fate === "everything") return changes;
  if (fate !== "any") return changes.slice(0, random.below(changes.length + 1));
  let isComplete = true;
  return changes.filter(([kind]) => {
    const survives = random.next() < 0.5 && (kind !== "unlink" || isComplete);
    isComplete &&= survives;
    return survives;
  });
}

/** Returns what is on disk of the content that was written to a file. */
function afterCut(content, synced, fate, random) {
  if (fate === "everything" || synced === content.length) return content;
  if (fate === "nothing") return content.subarray(0, synced);
  const end = synced + random.below(content.length - synced + 1);
  const left = Buffer.from(content.subarray(0, end));
  if (fate === "prefix") return left;
  // The size of the file is on disk, but not all pages are. They read as zeros.
  const lost = fate === "any" ? 0.5 : 0.2;
  for (let page = Math.floor(synced / pageSize); page * pageSize < end; page++) {
    if (random.next() < lost)
      left.fill(0, Math.max(synced, page * pageSize), Math.min(end, (page + 1) * pageSize));
  }
  return left;
}
