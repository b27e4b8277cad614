import { campaigns } from "./campaigns.mjs";
import { faults } from "./faults/faults.mjs";

/** Returns how many faults are planted, and how many of them a campaign has found. */
export function countsOf(figures) {
  const found = Object.keys(faults).filter((name) => figures[name]?.campaign !== undefined);
  return { planted: Object.keys(faults).length, found: found.length };
}

/** Returns the part of the page that lists the planted faults. */
export function faultTable(figures) {
  const rows = Object.entries(faults).map(
    ([name, { about }]) => `| \`${name}\`: ${about} | ${foundBy(figures[name])} |`,
  );
  const improved = Object.entries(faults).flatMap(([name, fault]) =>
    fault.improved === undefined ? [] : [`- \`${name}\`: ${fault.improved}`],
  );
  return `### Which campaign finds which fault

The steps and the seconds of CPU time are those after which the campaign reported a problem, with one seed or as the
median of several. The seconds include the start of the processes. A campaign in brackets found nothing within its bound.

| Fault | Found by | Steps | of | CPU seconds |
| --- | --- | --- | --- | --- |
${rows.join("\n")}

What the campaigns had to learn, because they did not find the fault before:

${improved.join("\n")}
`;
}

function foundBy(result) {
  if (result === undefined) return "not looked for yet | | | ";
  const { campaign, steps, seconds, missed } = result;
  const others = missed.map((each) => {
    const { title, unit } = campaigns[each.campaign];
    return `(${title}: ${each.steps.toLocaleString("en-US")} ${unit}, ${each.seconds} s)`;
  });
  if (campaign === undefined) return `**none** ${others.join(" ")} | | | `;
  const { title, unit } = campaigns[campaign];
  const by = [title, ...others].join(" ");
  return `${by} | ${steps.toLocaleString("en-US")} | ${unit} | ${seconds}`;
}
