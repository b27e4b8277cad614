import { Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { expect, it } from "vitest";
import { barReporter } from "../src/progress/bar-reporter.js";
import { progressLineIn } from "../src/progress/progress-text.js";
import { cutToWidth, textWidth } from "../src/progress/text-width.js";

const progress = {
  model: "都市の人口",
  indexes: ["人口順"],
  phase: "building",
  done: 45_000,
  total: 135_233,
  perSecond: 210_000,
} as const;

const widths = Array.from({ length: 91 }, (_, i) => i + 10);

it("a wide character takes two columns", () => {
  expect(textWidth("cities 都市")).toBe(11);
  expect(cutToWidth("都市 cities", 3)).toBe("都");
  expect(cutToWidth("都市 cities", 6)).toBe("都市 c");
  expect(cutToWidth("cities", 20)).toBe("cities");
});

it("a character of ambiguous width does not make a line longer", () => {
  const text = "abc \ufffd ".repeat(10);
  for (const columns of widths)
    expect(textWidth(cutToWidth(text, columns))).toBe(Math.min(columns, 60));
});

it("a line of wide characters keeps to its columns", () => {
  for (const columns of widths) {
    expect(textWidth(progressLineIn(columns, progress))).toBeLessThanOrEqual(columns);
  }
  const line = "都市の人口 人口順  45,000 / 135,233 rows  33 %  210,000 rows/s";
  expect(progressLineIn(65, progress)).toBe(line);
});

it("a bar behind wide characters keeps to one line", () => {
  for (const columns of widths) {
    let written = "";
    const stream = new Writable({
      decodeStrings: false,
      write(chunk: string, _, done) {
        written += chunk;
        done();
      },
    });
    Object.assign(stream, { isTTY: true, columns });
    const { show, stop } = barReporter(stream as unknown as NodeJS.WriteStream);
    show(progress);
    stop();
    const lines = stripVTControlCharacters(written).split(/[\r\n]+/);
    for (const line of lines) expect(textWidth(line)).toBeLessThan(columns);
  }
});
