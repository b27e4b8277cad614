/** Where a word is in a text, in UTF-16 code units. */
export interface WordRange {
  readonly start: number;
  readonly end: number;
}

/**
 * Cuts a text into words: the sequences of letters, marks and digits that begin with a letter or a
 * digit. A mark before a word belongs to what precedes it, such as an emoji. In scripts without
 * spaces between words, `Intl.Segmenter` cuts these sequences. In others it finds the same words,
 * in hundreds of times the time.
 */
export function cutWords(text: string): WordRange[] {
  const words: WordRange[] = [];
  const { length } = text;
  let at = 0;
  while (at < length) {
    // Most texts are mostly ASCII, for which no pattern is needed.
    const start = at;
    let code = text.charCodeAt(at);
    while (code < 0x80 && isAsciiWord[code] === 1) code = text.charCodeAt(++at);
    if (code >= 0x80) {
      run.lastIndex = start;
      const found = run.exec(text);
      if (found === null) {
        at += text.codePointAt(start)! > 0xffff ? 2 : 1;
        continue;
      }
      at = start + found[0].length;
      if (withoutSpaces.test(found[0])) addSegments(words, found[0], start);
      else words.push({ start, end: at });
    } else if (at > start) words.push({ start, end: at });
    else at++;
  }
  return words;
}

/**
 * How many UTF-16 code units are segmented together. The time for a sequence grows with the square
 * of its length: minutes for one of a few hundred kilobytes, without a space or a punctuation mark.
 */
const maxSegmented = 1024;
/** Words that end this close to the end of a part are segmented with the next part. */
const maxOverlap = 64;

function addSegments(words: WordRange[], text: string, start: number): void {
  for (let from = 0; from < text.length; ) {
    const isLast = text.length - from <= maxSegmented;
    const part = text.slice(from, isLast ? undefined : wholeCharacters(text, from + maxSegmented));
    let next = from + part.length;
    for (const { segment, index } of segmenter().segment(part)) {
      const end = index + segment.length;
      if (!isLast && index > 0 && end > part.length - maxOverlap) {
        next = from + index;
        break;
      }
      if (!hasWord.test(segment)) continue;
      words.push({ start: start + from + index, end: start + from + end });
    }
    from = next;
  }
}

/** Returns a position that is not within a surrogate pair, at most one before another position. */
function wholeCharacters(text: string, to: number): number {
  const code = text.charCodeAt(to - 1);
  return code >= 0xd800 && code < 0xdc00 ? to - 1 : to;
}

/** 1 for the codes of the letters and digits of ASCII. */
const isAsciiWord: Uint8Array = Uint8Array.from({ length: 0x80 }, (_, code) =>
  /[0-9A-Za-z]/.test(String.fromCharCode(code)) ? 1 : 0,
);

const run = /[\p{L}\p{N}][\p{L}\p{M}\p{N}]*/uy;

const hasWord = /[\p{L}\p{N}]/u;

/** The scripts of Chinese, Japanese, Thai, Lao, Khmer and Burmese, and their common characters. */
const withoutSpaces =
  /[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;

let shared: Intl.Segmenter | undefined;

/** The rules for words are the same in all locales. It is made when it is first needed. */
function segmenter(): Intl.Segmenter {
  shared ??= new Intl.Segmenter("en", { granularity: "word" });
  return shared;
}
