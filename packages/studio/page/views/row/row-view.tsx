import type { ComponentChild } from "preact";
import type { ModelInfo } from "../../../src/protocol/studio-info.js";
import { keyInAddress, rowsHref } from "../../navigation/links.js";
import type { Route } from "../../navigation/route.js";
import { Text } from "../../values/text.js";
import { RowDetails } from "./row-details.js";

interface Props {
  readonly model: ModelInfo;
  readonly route: Route;
}

/** Shows one row on its own page, to which references lead. */
export function RowView({ model, route }: Props): ComponentChild {
  const key = keyInAddress(route.params.get("key"));
  return (
    <section class="page">
      <p class="breadcrumb">
        <a href={rowsHref(model.property)}>
          All rows of <Text text={model.property} />
        </a>
      </p>
      {key === null ? (
        <>
          <h1>Unknown row</h1>
          <p>The address names no key.</p>
        </>
      ) : (
        <RowDetails model={model} rowKey={key} stamp={0} level="h1" />
      )}
    </section>
  );
}
