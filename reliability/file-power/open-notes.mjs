import { openSync, writeSync } from "node:fs";

const headBytes = 13;

/**
 * Returns a function that adds a line to the events which record-writes.c or record-files.c records
 * of a process.
 *
 * @param path the database. A file says by its name that record-writes.c records it.
 * @param log the file of the events.
 */
export function openNotes(path, log) {
  const events = openSync(log, "a");
  if (!path.endsWith(".mdb") && !path.endsWith(".sqlite"))
    return (line) => writeSync(events, `${line}\n`);
  return (line) => {
    const text = Buffer.from(line);
    const head = Buffer.alloc(headBytes);
    head[0] = "a".charCodeAt(0);
    head.writeUInt32LE(text.length, headBytes - 4);
    writeSync(events, Buffer.concat([head, text]));
  };
}
