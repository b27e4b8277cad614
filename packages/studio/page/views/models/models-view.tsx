import type { ComponentChild } from "preact";
import { useStudio } from "../../navigation/studio-context.js";
import { ModelCard } from "./model-card.js";
import { ModelDiagram } from "./model-diagram.js";
import { SizeTable } from "./size-table.js";
import { useSizes } from "./use-sizes.js";

/** Shows all models: how they belong together, and what each consists of. */
export function ModelsView(): ComponentChild {
  const { models } = useStudio();
  const measured = useSizes(models);
  return (
    <section class="page">
      <h1>Models</h1>
      {models.length === 0 ? (
        <p>
          This database has no models. <a href="#/keys">Show its keys</a>
        </p>
      ) : (
        <>
          <ModelDiagram models={models} />
          <SizeTable models={models} measured={measured} />
          {models.map((model) => (
            <ModelCard
              key={model.property}
              model={model}
              size={measured.sizes.get(model.property)}
            />
          ))}
        </>
      )}
    </section>
  );
}
