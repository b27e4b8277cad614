const escapeCharacter = "\u001b";
const unsafe = "[\\p{Cc}\\u061c\\u200e\\u200f\\u2028-\\u202e\\u2066-\\u2069\\ufeff]";
const unsafeInText = new RegExp(`(?!\\n|${escapeCharacter}\\[[0-9]{1,3}m)${unsafe}`, "gu");
const unsafeInJson = new RegExp(`(?!\\n)${unsafe}`, "gu");

/**
 * Escapes characters that a terminal would execute, or that reverse the direction of a text. Line
 * breaks and the codes of colors stay.
 */
export function escapeControls(text: string): string {
  return text.replace(unsafeInText, (character) => {
    const code = character.charCodeAt(0).toString(16);
    return code.length < 3 ? `\\x${code.padStart(2, "0")}` : `\\u${code.padStart(4, "0")}`;
  });
}

/** Escapes the same characters in JSON, which remains equal JSON. */
export function escapeJson(json: string): string {
  return json.replace(
    unsafeInJson,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
