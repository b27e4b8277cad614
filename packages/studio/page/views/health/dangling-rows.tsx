import type { ComponentChild } from "preact";
import { useCallback, useState } from "preact/hooks";
import type { Row } from "../../../src/protocol/rows.js";
import type { ModelInfo } from "../../../src/protocol/studio-info.js";
import { call } from "../../api/call.js";
import { useStudio } from "../../navigation/studio-context.js";
import { Text } from "../../values/text.js";
import { valueText } from "../../values/value-text.js";
import { visibleText } from "../../values/visible-text.js";
import { KeyLink } from "../jobs/key-link.js";
import { MoreRows } from "../jobs/more-rows.js";
import { usePages } from "../jobs/use-pages.js";

/** Finds the rows of a model that refer to rows that do not exist. */
export function DanglingRows(): ComponentChild {
  const models = useStudio().models.filter(hasReferences);
  const [chosen, setChosen] = useState("");
  const [shown, setShown] = useState<{ model: string; attempt: number } | null>(null);
  if (models.length === 0) return null;
  const model = chosen === "" ? (models[0]?.name ?? "") : chosen;
  return (
    <section>
      <h2>Dangling references</h2>
      <form
        class="query-bar"
        onSubmit={(event) => {
          event.preventDefault();
          setShown((last) => ({ model, attempt: (last?.attempt ?? 0) + 1 }));
        }}
      >
        <label class="field-inline">
          <span>Model</span>
          <select value={model} onChange={(event) => setChosen(event.currentTarget.value)}>
            {models.map(({ name, property }) => (
              <option key={name} value={name}>
                {visibleText(property)}
              </option>
            ))}
          </select>
        </label>
        <button type="submit">Find</button>
      </form>
      {shown !== null && (
        <DanglingOfModel key={`${shown.model} ${shown.attempt}`} model={shown.model} />
      )}
    </section>
  );
}

function hasReferences({ relations }: ModelInfo): boolean {
  return relations.some(({ kind }) => kind === "belongsTo");
}

function keyValues(key: Row): string {
  return Object.values(key)
    .map((value) => valueText(value))
    .join(", ");
}

function DanglingOfModel({ model }: { model: string }): ComponentChild {
  const load = useCallback((cursor: string | null) => call("dangling", { model, cursor }), [model]);
  const pages = usePages(load);
  return (
    <section class="plan-model" aria-label="Dangling references found">
      <ul>
        {pages.items.map(({ key, relation, target, targetKey }, index) => (
          <li key={index}>
            <KeyLink model={model} rowKey={key} />: <Text text={relation} /> refers to{" "}
            <Text text={target} /> <Text text={keyValues(targetKey)} />, which does not exist
          </li>
        ))}
      </ul>
      <MoreRows pages={pages} none="No dangling references." />
    </section>
  );
}
