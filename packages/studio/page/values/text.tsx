import type { ComponentChild } from "preact";
import { textParts } from "./visible-text.js";

/** Shows a text of the database: never as markup, and with escapes for what cannot be seen. */
export function Text({ text, isLong }: { text: string; isLong?: boolean }): ComponentChild {
  const parts = textParts(text);
  if (parts.length === 0) return "";
  if (parts.length === 1 && parts[0]?.isEscape === false) return text;
  return parts.map((part, index) =>
    part.isEscape ? (
      <span class="escape" key={index}>
        {part.text}
        {isLong && part.text === "\\n" ? "\n" : ""}
      </span>
    ) : (
      part.text
    ),
  );
}
