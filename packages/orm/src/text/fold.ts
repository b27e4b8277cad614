import type { Language } from "./languages.js";

/**
 * Folds a word, so that words compare equal that differ only in case or in the form of their
 * characters: the compatibility form of Unicode (NFKC), then its full case folding. `Straße`
 * becomes `strasse`.
 */
export function fold(word: string): string {
  if (asciiWord.test(word)) return word.toLowerCase();
  return word.normalize("NFKC").replace(changesWhenFolded, foldCharacter).normalize("NFKC");
}

/**
 * Folds a word of a language. In Turkish, `I` is the capital of `ı`, and `İ` that of `i`. In all
 * other languages that have a stemmer, Unicode folds the word.
 */
export function foldIn(language: Language | undefined, word: string): string {
  if (language !== "turkish") return fold(word);
  return fold(word.normalize("NFKC").replaceAll("İ", "i").replaceAll("I", "ı"));
}

const asciiWord = /^[0-9A-Za-z]+$/;

const changesWhenFolded = /\p{Changes_When_Casefolded}/gu;

const changes = /\p{Changes_When_Casefolded}/u;

/**
 * Folds one character by its upper case, because JavaScript has no case folding. Alone, a sigma has
 * no final form. The letters of Cherokee fold to their upper case, and a capital sharp s to two
 * letters, as a small one does.
 */
function foldCharacter(character: string): string {
  const upper = character.toUpperCase();
  const lower = upper.toLowerCase();
  if (!changes.test(lower)) return lower;
  const again = lower.toUpperCase();
  return again === upper ? upper : again.toLowerCase();
}

/**
 * Removes the accents of Latin, Greek and Cyrillic letters, and makes `ı` an `i`. The marks of
 * other scripts stay, because they are vowels or other sounds there.
 */
export function withoutMarks(word: string): string {
  if (asciiWord.test(word)) return word;
  return word.normalize("NFD").replace(accents, "").replaceAll("ı", "i").normalize("NFC");
}

const accents = /[\u0300-\u036f]/g;
