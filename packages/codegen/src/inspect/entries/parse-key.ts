import type { KvKeyPart } from "@keywright/core";
import { KeyNotationError } from "../../errors/inspect-errors.js";
import { valueOfWord } from "./value-token.js";

/** Parses a key in the notation of `formatKey`, or with `{"$": "1n"}` instead of a word. */
export function parseKey(text: string): KvKeyPart[] {
  return new KeyParser(text).parse();
}

/** Sticky, so that each pattern matches only at the current position. */
const patterns = {
  space: /[ \t\r\n]*/y,
  string: /"(?:[^"\\]|\\.)*"/sy,
  wrapped: /\{\s*"\$"\s*:\s*"([^"\\]*)"\s*\}/y,
  word: /[^\s,[\]{}"']+/y,
};

const jsonNumber = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;

class KeyParser {
  readonly #text: string;
  #position = 0;

  constructor(text: string) {
    this.#text = text;
  }

  parse(): KvKeyPart[] {
    if (!this.#accept("[")) throw this.#error(this.#hintForStart());
    const key: KvKeyPart[] = [];
    if (!this.#accept("]")) {
      do key.push(this.#parsePart());
      while (this.#accept(","));
      if (!this.#accept("]")) throw this.#error("expected a comma or the end of the array");
    }
    if (this.#position < this.#text.length)
      throw this.#error("there is text after the end of the key");
    return key;
  }

  #parsePart(): KvKeyPart {
    const string = this.#match("string");
    if (string !== undefined) return this.#parseString(string[0]);
    const wrapped = this.#match("wrapped");
    if (wrapped !== undefined) return this.#parseWord(wrapped[0], wrapped[1]!);
    const word = this.#match("word");
    if (word !== undefined) return this.#parseBareWord(word[0]);
    throw this.#error(
      this.#text[this.#position] === '"'
        ? "this string has no closing quote"
        : "expected a part of the key",
    );
  }

  #parseString(quoted: string): string {
    let text: string;
    try {
      text = JSON.parse(quoted) as string;
    } catch {
      throw this.#errorBefore(quoted, "this is not a valid JSON string");
    }
    if (text.isWellFormed()) return text;
    throw this.#errorBefore(quoted, "a key cannot contain a lone surrogate");
  }

  #parseBareWord(text: string): KvKeyPart {
    if (text === "true" || text === "false") return text === "true";
    if (text === "-0" || !jsonNumber.test(text)) return this.#parseWord(text, text);
    const number = Number(text);
    if (!Number.isFinite(number)) {
      throw this.#errorBefore(text, "this number is too large; use Infinity or a bigint");
    }
    if (isInexact(text, number)) {
      throw this.#errorBefore(
        text,
        "this number cannot be represented exactly; add an n for a bigint",
      );
    }
    return number;
  }

  /** @param matched the word with what surrounds it. */
  #parseWord(matched: string, word: string): KvKeyPart {
    const [value] = valueOfWord(word);
    if (value === undefined) throw this.#errorBefore(matched, wordHint(word));
    return value;
  }

  #hintForStart(): string {
    const text = this.#text.trim();
    return /^[^"'[\]{}]+$/.test(text)
      ? `a key is an array, such as [${JSON.stringify(text)}]`
      : "a key begins with [";
  }

  #accept(character: string): boolean {
    this.#match("space");
    if (this.#text[this.#position] !== character) return false;
    this.#position++;
    this.#match("space");
    return true;
  }

  #match(name: keyof typeof patterns): RegExpExecArray | undefined {
    const pattern = patterns[name];
    pattern.lastIndex = this.#position;
    const found = pattern.exec(this.#text);
    if (found === null) return undefined;
    this.#position += found[0].length;
    return found;
  }

  #error(reason: string): KeyNotationError {
    return new KeyNotationError({ text: this.#text, position: this.#position + 1, reason });
  }

  #errorBefore(matched: string, reason: string): KeyNotationError {
    return new KeyNotationError({
      text: this.#text,
      position: this.#position - matched.length + 1,
      reason,
    });
  }
}

/** Accepts the digits that JavaScript itself prints, as in `String(2 ** 60)`. */
function isInexact(text: string, number: number): boolean {
  if (!/^-?[0-9]+$/.test(text)) return false;
  return BigInt(text) !== BigInt(number) && String(number) !== text;
}

function wordHint(word: string): string {
  if (word.startsWith("b64:")) return "expected base64 with padding after b64:";
  if (/^-?0[0-9]|^\+|^-0n$/.test(word)) return "a number must not begin with a zero or a plus sign";
  return /^[\p{L}_]/u.test(word)
    ? `write a string in quotes: ${JSON.stringify(word)}`
    : "this is not a key part";
}
