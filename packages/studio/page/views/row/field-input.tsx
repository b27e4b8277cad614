import type { ComponentChild } from "preact";
import { useId } from "preact/hooks";
import type { FieldInfo } from "../../../src/protocol/studio-info.js";
import { Text } from "../../values/text.js";
import { textParts, visibleText } from "../../values/visible-text.js";
import type { FieldDraft } from "./row-draft.js";

interface Props {
  readonly field: FieldInfo;
  readonly draft: FieldDraft;
  readonly isNew: boolean;
  /** True for the primary key of a row that exists. */
  readonly isFixed: boolean;
  readonly issues: readonly string[];
  readonly onChange: (draft: FieldDraft) => void;
  /** A button that chooses the value, for a field that refers to another row. */
  readonly picker?: ComponentChild;
}

/** Shows a field of the form: its input, buttons for null and absent, and what is wrong. */
export function FieldInput(props: Props): ComponentChild {
  const { field, draft, isNew, isFixed, issues, onChange, picker } = props;
  const id = useId();
  const absentText = isNew && field.hasDefault ? "default" : "absent";
  const canBeAbsent = field.isOptional || (isNew && field.hasDefault);
  const hints = [field.description === null ? null : `${id}-text`, `${id}-type`];
  const common = {
    id,
    name: field.name,
    readOnly: isFixed,
    "aria-invalid": issues.length > 0,
    "aria-describedby": [...hints, issues.length > 0 ? `${id}-issues` : null]
      .filter((each) => each !== null)
      .join(" "),
  };
  const isChoice = field.kind === "boolean" || field.kind === "choice";
  const states = [
    ...(field.isNullable ? [{ state: "null" as const, label: "null" }] : []),
    ...(canBeAbsent ? [{ state: "absent" as const, label: absentText }] : []),
  ];
  const placeholder = draft.state === "absent" ? absentText : draft.state === "null" ? "null" : "";
  return (
    <div class="form-field">
      <div class="form-label">
        <label for={id}>
          <Text text={field.name} />
        </label>
        <code id={`${id}-type`} class="muted">
          <Text text={field.type} />
        </code>
      </div>
      {field.description !== null && (
        <p id={`${id}-text`} class="muted form-description">
          <Text text={field.description} />
        </p>
      )}
      <div class="form-input">
        {isChoice && !isFixed ? (
          <ChoiceInput
            field={field}
            draft={draft}
            states={states}
            common={common}
            onChange={onChange}
          />
        ) : (
          <textarea
            {...common}
            rows={rowsOf(field, draft.text)}
            class={field.kind === "string" ? "" : "code-input"}
            value={draft.text}
            placeholder={placeholder}
            spellcheck={false}
            onInput={(event) => onChange({ state: "value", text: event.currentTarget.value })}
            onKeyDown={(event) => submitOnEnter(event, field)}
          />
        )}
        {!isFixed && picker}
        {!isChoice &&
          !isFixed &&
          states.map(({ state, label }) => (
            <button
              key={state}
              type="button"
              class="state-button"
              aria-label={`Make ${field.name} ${label}`}
              aria-pressed={draft.state === state}
              onClick={() => onChange({ state, text: "" })}
            >
              {label}
            </button>
          ))}
      </div>
      {hasHidden(draft) && (
        <p class="muted form-description">
          With characters that cannot be seen: <Text text={draft.text} />
        </p>
      )}
      {issues.length > 0 && (
        <p id={`${id}-issues`} class="form-issue">
          <Text text={issues.join(" ")} />
        </p>
      )}
    </div>
  );
}

interface ChoiceProps {
  readonly field: FieldInfo;
  readonly draft: FieldDraft;
  readonly states: readonly { readonly state: "null" | "absent"; readonly label: string }[];
  readonly common: Readonly<Record<string, unknown>>;
  readonly onChange: (draft: FieldDraft) => void;
}

function ChoiceInput({ field, draft, states, common, onChange }: ChoiceProps): ComponentChild {
  const choices = field.kind === "boolean" ? ["true", "false"] : field.choices.map(String);
  const { readOnly: _, ...rest } = common;
  return (
    <select
      {...rest}
      value={draft.state === "value" ? `value:${draft.text}` : draft.state}
      onChange={(event) => {
        const { value } = event.currentTarget;
        const state = states.find((each) => each.state === value)?.state;
        onChange(state ? { state, text: "" } : { state: "value", text: value.slice(6) });
      }}
    >
      {draft.state === "value" && !choices.includes(draft.text) && (
        <option value={`value:${draft.text}`}>{visibleText(draft.text) || "choose"}</option>
      )}
      {choices.map((choice) => (
        <option key={choice} value={`value:${choice}`}>
          {visibleText(choice)}
        </option>
      ))}
      {states.map(({ state, label }) => (
        <option key={state} value={state}>
          {label}
        </option>
      ))}
    </select>
  );
}

/** An input cannot show escapes. Ends of lines are seen anyway. */
function hasHidden({ state, text }: FieldDraft): boolean {
  return state === "value" && textParts(text).some((part) => part.isEscape && part.text !== "\\n");
}

/** Only texts and JSON can have more than one line. */
function submitOnEnter(event: KeyboardEvent, field: FieldInfo): void {
  const isLong = field.kind === "data" || (field.kind === "string" && event.shiftKey);
  if (event.key !== "Enter" || isLong || !(event.currentTarget instanceof HTMLElement)) return;
  event.preventDefault();
  event.currentTarget.closest("form")?.requestSubmit();
}

function rowsOf(field: FieldInfo, text: string): number {
  const lines = text.split("\n").length + Math.floor(text.length / 90);
  return Math.min(12, Math.max(field.kind === "data" ? 3 : 1, lines));
}
