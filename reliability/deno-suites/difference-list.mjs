import { places, suites } from "./suites.mjs";

/** Returns the part of the page that lists how many tests pass, and why others fail. */
export function differenceList(figures) {
  if (figures === undefined) return "";
  const rows = Object.entries(figures.suites).flatMap(([name, { version, ...all }]) =>
    Object.entries(all).map(([place, { passed, reasons }]) => {
      const failed = Object.entries(reasons).map(([reason, count]) => `${count}: ${reason}`);
      return `| ${suites[name].title}, ${version} | ${places[place]} | ${passed} | ${failed.join("<br>")} |`;
    }),
  );
  return `### Tests that pass, and why others fail

They were run with Deno ${figures.deno}.

| Tests | Databases | Passed | Failed, with the reason |
| --- | --- | --- | --- |
${rows.join("\n")}
`;
}
