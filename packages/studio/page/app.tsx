import type { ComponentChild } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { StudioInfo } from "../src/protocol/studio-info.js";
import { useCall } from "./api/use-call.js";
import { type Route, useRoute } from "./navigation/route.js";
import { Sidebar } from "./navigation/sidebar.js";
import { StudioContext } from "./navigation/studio-context.js";
import { ErrorNote } from "./parts/error-note.js";
import { Text } from "./values/text.js";
import { ChangesView } from "./views/changes/changes-view.js";
import { HealthView } from "./views/health/health-view.js";
import { KeysView } from "./views/keys/keys-view.js";
import { MigrationsView } from "./views/migrations/migrations-view.js";
import { ModelsView } from "./views/models/models-view.js";
import { RowView } from "./views/row/row-view.js";
import { RowsView } from "./views/rows/rows-view.js";
import { WorkView } from "./views/work/work-view.js";

/** Shows the whole page: the navigation and the view that the address names. */
export function App(): ComponentChild {
  const info = useCall("info", null);
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const previous = useRef<string | null>(null);
  const lastView = useRef(route.view);
  const place = `${route.view}/${route.property ?? ""}`;

  useEffect(() => {
    if (info.data === null) return;
    document.title = `${titleOf(route)} · ${info.data.title} · Keywright Studio`;
    // A reader of the screen learns that the view has changed. Not on the first one.
    if (previous.current !== null && previous.current !== place) main.current?.focus();
    previous.current = place;
  }, [place, info.data, route]);

  // A migration may have changed the states of indexes, and a check may have found damage.
  useEffect(() => {
    const isLeft = lastView.current !== route.view;
    const mayHaveChanged = lastView.current === "migrations" || lastView.current === "health";
    if (isLeft && mayHaveChanged) info.reload();
    lastView.current = route.view;
  }, [route.view, info.reload]);

  if (info.error !== null && info.data === null) {
    return (
      <main class="failed-start">
        <h1>Keywright Studio</h1>
        <ErrorNote error={info.error} onRetry={info.reload} />
      </main>
    );
  }
  if (info.data === null) return <p class="loading">Loading…</p>;
  return (
    <StudioContext.Provider value={info.data}>
      {/* biome-ignore lint/a11y/useValidAnchor: a link is what readers of the screen expect. */}
      <a class="skip-link" href="#main" onClick={(event) => skipTo(event, main.current)}>
        Skip to the content
      </a>
      <div class="studio">
        <Sidebar route={route} />
        <main id="main" class="main" tabIndex={-1} ref={main}>
          {info.data.damage !== null && route.view !== "health" && <DamageNote />}
          {viewOf(route, info.data)}
        </main>
      </div>
    </StudioContext.Provider>
  );
}

/** The hash is the route of the page, so that the link must not change it. */
function skipTo(event: Event, main: HTMLElement | null): void {
  event.preventDefault();
  main?.focus();
}

function viewOf(route: Route, info: StudioInfo): ComponentChild {
  if (route.view === "rows" || route.view === "row") {
    const model = info.models.find(({ property }) => property === route.property);
    if (model === undefined) return <UnknownModel property={route.property ?? ""} />;
    return route.view === "rows" ? (
      <RowsView key={model.property} model={model} route={route} />
    ) : (
      <RowView key={route.params.get("key")} model={model} route={route} />
    );
  }
  if (route.view === "keys") return <KeysView route={route} />;
  if (route.view === "changes") return <ChangesView route={route} />;
  if (route.view === "work") return <WorkView route={route} />;
  if (route.view === "migrations") return <MigrationsView />;
  if (route.view === "health") return <HealthView />;
  return <ModelsView />;
}

function DamageNote(): ComponentChild {
  return (
    <p class="note note-error damage-note">
      The files of this database are damaged. <a href="#/health">Show the damage</a>
    </p>
  );
}

function UnknownModel({ property }: { property: string }): ComponentChild {
  return (
    <section class="page">
      <h1>Unknown model</h1>
      <p>
        There is no model <Text text={property} />. <a href="#/models">Show all models</a>
      </p>
    </section>
  );
}

function titleOf({ view, property }: Route): string {
  if (view === "rows") return `Rows of ${property}`;
  if (view === "row") return `Row of ${property}`;
  if (view === "work") return "Jobs and crons";
  return view.charAt(0).toUpperCase() + view.slice(1);
}
