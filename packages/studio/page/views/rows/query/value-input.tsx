import type { ComponentChild } from "preact";
import type { FieldInfo } from "../../../../src/protocol/studio-info.js";
import { visibleText } from "../../../values/visible-text.js";

interface Props {
  readonly info: FieldInfo;
  readonly label: string;
  readonly text: string;
  readonly isDisabled: boolean;
  readonly onChange: (text: string) => void;
}

const examples: Readonly<Partial<Record<FieldInfo["kind"], string>>> = {
  date: "2025-01-31T12:00:00Z",
  bigint: "1",
  number: "1",
  bytes: "0aff",
  data: "JSON",
};

/** Shows an input for one value of a condition. */
export function ValueInput({ info, label, text, isDisabled, onChange }: Props): ComponentChild {
  if (info.kind === "boolean" || info.kind === "choice") {
    const choices = info.kind === "boolean" ? ["true", "false"] : info.choices.map(String);
    return (
      <select
        aria-label={label}
        value={text}
        disabled={isDisabled}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        <option value="">any</option>
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {visibleText(choice)}
          </option>
        ))}
      </select>
    );
  }
  return (
    <input
      type="text"
      aria-label={label}
      value={text}
      disabled={isDisabled}
      placeholder={examples[info.kind] ?? "any"}
      spellcheck={false}
      autocomplete="off"
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}
