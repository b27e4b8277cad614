import { Buffer } from "node:buffer";
import { ImportLineError } from "../../errors/inspect-errors.js";

export interface Line {
  readonly text: string;
  readonly number: number;
  /** True if the line ends with a line feed. If false, it may be truncated. */
  readonly isEnded: boolean;
}

const lineFeed = 0x0a;

/**
 * Yields the lines of a UTF-8 text that are not empty. Only a line feed ends a line, with or
 * without a carriage return before it. Node's `readline` would also split at `U+2028`, which JSON
 * contains unescaped. If the text ends within a character, that character is left out.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<Line> {
  // Kept in pieces, because a line may be longer than many chunks.
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

function lineOf(pieces: readonly Uint8Array[], number: number, isEnded: boolean): Line[] {
  const text = decode(Buffer.concat(pieces), number, isEnded).trim();
  return text === "" ? [] : [{ text, number, isEnded }];
}

function decode(bytes: Uint8Array, number: number, isEnded: boolean): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: !isEnded });
  } catch (cause) {
    throw new ImportLineError({ line: number, reason: "the text is not UTF-8" }, cause);
  }
}
