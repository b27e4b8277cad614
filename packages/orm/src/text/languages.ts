/** Reduces a folded word to its stem. Pure. */
export type Stemmer = (word: string) => string;

/** A language that has a stemmer. */
export type Language =
  | "arabic"
  | "armenian"
  | "bulgarian"
  | "danish"
  | "dutch"
  | "english"
  | "finnish"
  | "french"
  | "german"
  | "greek"
  | "hindi"
  | "hungarian"
  | "indonesian"
  | "irish"
  | "italian"
  | "lithuanian"
  | "nepali"
  | "norwegian"
  | "portuguese"
  | "romanian"
  | "russian"
  | "serbian"
  | "spanish"
  | "swedish"
  | "tamil"
  | "turkish"
  | "ukrainian";

const modules: Readonly<Record<Language, () => Promise<{ readonly stemmer: Stemmer }>>> = {
  arabic: () => import("@orama/stemmers/arabic"),
  armenian: () => import("@orama/stemmers/armenian"),
  bulgarian: () => import("@orama/stemmers/bulgarian"),
  danish: () => import("@orama/stemmers/danish"),
  dutch: () => import("@orama/stemmers/dutch"),
  english: () => import("stemmer"),
  finnish: () => import("@orama/stemmers/finnish"),
  french: () => import("@orama/stemmers/french"),
  german: () => import("@orama/stemmers/german"),
  greek: () => import("@orama/stemmers/greek"),
  hindi: () => import("@orama/stemmers/indian"),
  hungarian: () => import("@orama/stemmers/hungarian"),
  indonesian: () => import("@orama/stemmers/indonesian"),
  irish: () => import("@orama/stemmers/irish"),
  italian: () => import("@orama/stemmers/italian"),
  lithuanian: () => import("@orama/stemmers/lithuanian"),
  nepali: () => import("@orama/stemmers/nepali"),
  norwegian: () => import("@orama/stemmers/norwegian"),
  portuguese: () => import("@orama/stemmers/portuguese"),
  romanian: () => import("@orama/stemmers/romanian"),
  russian: () => import("@orama/stemmers/russian"),
  serbian: () => import("@orama/stemmers/serbian"),
  spanish: () => import("@orama/stemmers/spanish"),
  swedish: () => import("@orama/stemmers/swedish"),
  tamil: () => import("@orama/stemmers/tamil"),
  turkish: () => import("@orama/stemmers/turkish"),
  ukrainian: () => import("@orama/stemmers/ukrainian"),
};

/** The languages that have a stemmer, in alphabetical order. */
export const languages = Object.keys(modules) as readonly Language[];

export function isLanguage(name: unknown): name is Language {
  return typeof name === "string" && Object.hasOwn(modules, name);
}

/** The stemmers that have been loaded. A bundle contains each language as a part of its own. */
const loaded = new Map<Language, Stemmer>();

/**
 * Loads the stemmer of a language. Whatever calls `analyze` calls this first, and awaits the
 * promise if there is one.
 *
 * @returns undefined if there is nothing to wait for, so that all later calls cost nothing.
 */
export function loadStemmer(language: Language | undefined): Promise<void> | undefined {
  if (language === undefined || loaded.has(language)) return undefined;
  return modules[language]().then(({ stemmer }) => {
    if (!loaded.has(language)) loaded.set(language, stemmer);
  });
}

/**
 * Returns the stemmer of a language.
 *
 * @throws {Error} if `loadStemmer` has not finished for it.
 */
export function stemmerOf(language: Language): Stemmer {
  const stemmer = loaded.get(language);
  if (stemmer === undefined) throw new Error(`the stemmer for ${language} is not loaded`);
  return stemmer;
}
