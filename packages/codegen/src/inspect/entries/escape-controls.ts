const escapeCharacter = "\u001b";
const unsafe = "[\\p{Cc}\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff]";
const unsafeInText = new RegExp(`(?!\\n|${escapeCharacter}\\[[0-9]{1,3}m)${unsafe}`, "gu");
const unsafeInData = new RegExp(`(?!\\n)${unsafe}`, "gu");

/**
 * Escapes characters that a terminal would execute, or that reverse the direction of a text. Line
 * breaks stay.
 *
 * @param keepsColors true if the codes of colors stay too. The default is true.
 */
export function escapeControls(text: string, keepsColors = true): string {
  return text.replace(keepsColors ? unsafeInText : unsafeInData, (character) => {
    const code = character.charCodeAt(0).toString(16);
    return code.length < 3 ? `\\x${code.padStart(2, "0")}` : `\\u${code.padStart(4, "0")}`;
  });
}

/** Escapes the same characters in data, and its line breaks and codes of colors. */
export function escapeData(text: string): string {
  return escapeControls(text, false).replaceAll("\n", "\\n");
}

/** Escapes the same characters in JSON, which remains equal JSON. */
export function escapeJson(json: string): string {
  return json.replace(
    unsafeInData,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
