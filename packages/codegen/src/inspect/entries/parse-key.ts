import type { KvKeyPart } from "@keywright/core";
import { KeyNotationError } from "../../errors/inspect-errors.js";
import { valueOfWord } from "./value-token.js";

/**
 * Reads a key as `formatKey` writes it, and as it stands in an export: there `{"$": "1n"}` takes the place of a word, since a JSON
 * document has none.
 *
 * @throws {KeyNotationError} for any other text.
 */
export function parseKey(text: string): KvKeyPart[] {
  return new KeyParser(text).parse();
}

/** Sticky, so that each of them matches where reading has come to. */
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
    if (!this.#takes("[")) throw this.#error(this.#hint());
    const key: KvKeyPart[] = [];
    if (!this.#takes("]")) {
      do key.push(this.#part());
      while (this.#takes(","));
      if (!this.#takes("]")) throw this.#error("a comma or the end of the array belongs here");
    }
    if (this.#position < this.#text.length) throw this.#error("the key has ended before");
    return key;
  }

  #part(): KvKeyPart {
    const string = this.#match("string");
    if (string !== undefined) return this.#string(string[0]);
    const wrapped = this.#match("wrapped");
    if (wrapped !== undefined) return this.#word(wrapped[0], wrapped[1]!);
    const word = this.#match("word");
    if (word !== undefined) return this.#plain(word[0]);
    throw this.#error(
      this.#text[this.#position] === '"'
        ? "this text does not end"
        : "a part of the key belongs here",
    );
  }

  #string(quoted: string): string {
    let text: string;
    try {
      text = JSON.parse(quoted) as string;
    } catch {
      throw this.#errorBefore(quoted, "this is not a text as JSON has them");
    }
    if (text.isWellFormed()) return text;
    throw this.#errorBefore(quoted, "half a character, a lone surrogate, cannot be in a key");
  }

  #plain(text: string): KvKeyPart {
    if (text === "true" || text === "false") return text === "true";
    if (text === "-0" || !jsonNumber.test(text)) return this.#word(text, text);
    const number = Number(text);
    if (!Number.isFinite(number)) {
      throw this.#errorBefore(text, "no number is so large; there is Infinity");
    }
    if (isInexact(text, number)) {
      throw this.#errorBefore(text, "no number is exactly this; with an n behind it is a bigint");
    }
    return number;
  }

  /** @param matched with what stands around the word. */
  #word(matched: string, word: string): KvKeyPart {
    const [value] = valueOfWord(word);
    if (value === undefined) throw this.#errorBefore(matched, wordHint(word));
    return value;
  }

  #hint(): string {
    const text = this.#text.trim();
    return /^[^"'[\]{}]+$/.test(text)
      ? `a key is an array, such as [${JSON.stringify(text)}]`
      : "a key begins with [";
  }

  /** Goes behind a character, and space before and behind it, where it comes next. */
  #takes(character: string): boolean {
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
    return new KeyNotationError(this.#text, this.#position + 1, reason);
  }

  #errorBefore(matched: string, reason: string): KeyNotationError {
    return new KeyNotationError(this.#text, this.#position - matched.length + 1, reason);
  }
}

/** A whole number that is read as another one, but for those that JavaScript itself writes so. */
function isInexact(text: string, number: number): boolean {
  if (!/^-?[0-9]+$/.test(text)) return false;
  return BigInt(text) !== BigInt(number) && String(number) !== text;
}

function wordHint(word: string): string {
  if (word.startsWith("b64:")) return "behind b64: belongs base64, with its padding";
  if (/^-?0[0-9]|^\+|^-0n$/.test(word)) return "a number has no zeros and no plus before it";
  return /^[\p{L}_]/u.test(word)
    ? `a text has quotes: ${JSON.stringify(word)}`
    : "this is no key part";
}
