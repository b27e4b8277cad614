import { ImportLineError } from "../errors/inspect-errors.js";

/** A line of a text and where it stands. */
export interface Line {
  readonly text: string;
  /** From 1. */
  readonly number: number;
}

/**
 * The lines of a text in UTF-8 that are not empty. Only a line feed ends one, with or without a carriage return before it: Node's
 * `readline` takes `U+2028` for an end, which stands in JSON as it is.
 *
 * @throws {ImportLineError} for what is not UTF-8.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<Line> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  // In pieces, for a line may be longer than many chunks.
  let pieces: string[] = [];
  let number = 1;
  const decoded = (chunk?: Uint8Array) => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch (cause) {
      throw new ImportLineError(number, "it is not UTF-8", cause);
    }
  };
  for await (const chunk of chunks) {
    const text = typeof chunk === "string" ? chunk : decoded(chunk);
    const [first = "", ...others] = text.split("\n");
    pieces.push(first);
    for (const other of others) {
      yield* lineOf(pieces, number++);
      pieces = [other];
    }
  }
  pieces.push(decoded());
  yield* lineOf(pieces, number);
}

/** The line of some pieces, or none where it has nothing. */
function lineOf(pieces: readonly string[], number: number): Line[] {
  const text = pieces.join("").trim();
  return text === "" ? [] : [{ text, number }];
}
