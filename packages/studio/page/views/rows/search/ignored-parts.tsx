import type { IgnoredPart, IgnoredReason } from "@keywright/orm";
import type { ComponentChild } from "preact";
import { Text } from "../../../values/text.js";

const reasons: Readonly<Record<IgnoredReason, string>> = {
  stopWord: "the index leaves this word out",
  noWord: "it has no letter and no digit",
  unknownField: "the index has no such field, so the name is searched for as a word",
  quote: "the quotation mark has no partner",
  operator: "OR needs a word on both sides",
  onlyExclusions: "a query has to name something to find",
  tooLong: "the query is too long",
};

/** Shows the parts of a query that had no effect, and why. */
export function IgnoredParts({ parts }: { parts: readonly IgnoredPart[] }): ComponentChild {
  if (parts.length === 0) return null;
  return (
    <ul class="note note-warn hits-ignored" aria-label="Ignored parts of the query">
      {parts.map(({ text, start, reason }) => (
        <li key={`${start} ${reason}`}>
          <code>
            <Text text={text} />
          </code>{" "}
          is ignored: {reasons[reason]}
        </li>
      ))}
    </ul>
  );
}
