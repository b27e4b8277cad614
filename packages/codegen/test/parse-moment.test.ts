import { afterEach, expect, it, vi } from "vitest";
import { parseMoment } from "../src/cli/backup/parse-moment.js";

afterEach(() => void vi.unstubAllEnvs());

it("takes a time without a zone for local time, also a date alone", () => {
  vi.stubEnv("TZ", "America/New_York");
  const isoOf = (text: string) => (parseMoment(text) as Date).toISOString();
  expect(isoOf("2026-07-01T12:00")).toBe("2026-07-01T16:00:00.000Z");
  expect(isoOf("2026-07-01")).toBe("2026-07-01T04:00:00.000Z");
  expect(isoOf("2026-07-01T12:00:00Z")).toBe("2026-07-01T12:00:00.000Z");
  expect(parseMoment("00000000000000070000")).toBe("00000000000000070000");
  expect(() => parseMoment("soon")).toThrow(/a time/);
});
