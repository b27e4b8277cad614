import { Buffer } from "node:buffer";
import { ImportLineError } from "../../errors/inspect-errors.js";

/** A line of a text and where it stands. */
export interface Line {
  readonly text: string;
  /** From 1. */
  readonly number: number;
  /** It has its line feed: without one it may go on behind the end of what was read. */
  readonly isEnded: boolean;
}

const lineFeed = 0x0a;

/**
 * The lines of a text in UTF-8 that are not empty. Only a line feed ends one, with or without a carriage return before it: Node's
 * `readline` takes `U+2028` for an end, which stands in JSON as it is. Where the text ends within a character, its last line ends
 * before it.
 *
 * @throws {ImportLineError} for what is not UTF-8, behind the lines above it.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<Line> {
  // In pieces, for a line may be longer than many chunks.
  let pieces: Uint8Array[] = [];
  let number = 1;
  for await (const chunk of chunks) {
    let rest: Uint8Array = typeof chunk === "string" ? Buffer.from(chunk) : chunk;
    for (let end = rest.indexOf(lineFeed); end >= 0; end = rest.indexOf(lineFeed)) {
      pieces.push(rest.subarray(0, end));
      yield* lineOf(pieces, number++, true);
      pieces = [];
      rest = rest.subarray(end + 1);
    }
    pieces.push(rest);
  }
  yield* lineOf(pieces, number, false);
}

/** The line of some pieces, or none where it has nothing. */
function lineOf(pieces: readonly Uint8Array[], number: number, isEnded: boolean): Line[] {
  const text = decoded(Buffer.concat(pieces), number, isEnded).trim();
  return text === "" ? [] : [{ text, number, isEnded }];
}

function decoded(bytes: Uint8Array, number: number, isEnded: boolean): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: !isEnded });
  } catch (cause) {
    throw new ImportLineError(number, "it is not UTF-8", cause);
  }
}
