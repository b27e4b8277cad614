import { Buffer } from "node:buffer";
import { dateValue, seedTime } from "./date-value.js";
import { patternText } from "./pattern-text.js";
import type { Definition, Place } from "./place.js";

type MakeText = (place: Place, format: Definition, maxLength: number) => string;

const isoTime = (place: Place) => dateValue({ type: "date" }, place).toISOString();

/** Makes texts of the formats of Zod. A format that is missing here is made from its pattern. */
const makers: Readonly<Record<string, MakeText>> = {
  email: ({ fakes: { faker } }, _, maxLength) => {
    const email = faker.internet.email().toLowerCase();
    if (email.length <= maxLength) return email;
    return `${faker.string.alpha({ length: Math.max(1, maxLength - 5), casing: "lower" })}@x.io`;
  },
  url: (place, { protocol }: Definition & { readonly protocol?: RegExp }, maxLength) => {
    const { faker } = place.fakes;
    const scheme = ["https", "http", "ftp", "mailto"].find((each) => protocol?.test(each) ?? true);
    if (place.attempt > 5 && protocol !== undefined && scheme === undefined) {
      return `${patternText(place, protocol, 0)}://${faker.internet.domainName()}`;
    }
    const url = `${scheme ?? "https"}://${faker.internet.domainName()}`;
    return url.length <= maxLength ? url : `${scheme ?? "https"}://x.io`;
  },
  uuid: ({ fakes }, { version }) => uuid(fakes.faker.string.uuid(), version),
  guid: ({ fakes }) => fakes.faker.string.uuid(),
  ulid: ({ fakes }) => {
    const refDate = seedTime - fakes.faker.number.int({ min: 0, max: 63_072_000_000 });
    return fakes.faker.string.ulid({ refDate });
  },
  nanoid: ({ fakes }) => fakes.faker.string.nanoid(21),
  cuid: ({ fakes }) => `c${fakes.faker.string.alphanumeric({ length: 24, casing: "lower" })}`,
  cuid2: ({ fakes }) => `c${fakes.faker.string.alphanumeric({ length: 23, casing: "lower" })}`,
  emoji: ({ fakes }) => fakes.faker.internet.emoji({ types: ["smiley", "food", "nature"] }),
  ipv4: ({ fakes }) => fakes.faker.internet.ipv4(),
  ipv6: ({ fakes }) => fakes.faker.internet.ipv6(),
  cidrv4: ({ fakes }) =>
    `${fakes.faker.internet.ipv4()}/${fakes.faker.number.int({ min: 8, max: 32 })}`,
  cidrv6: ({ fakes }) =>
    `${fakes.faker.internet.ipv6()}/${fakes.faker.number.int({ min: 16, max: 128 })}`,
  hostname: ({ fakes }) => fakes.faker.internet.domainName(),
  hex: ({ fakes }) => fakes.faker.string.hexadecimal({ length: 16, prefix: "", casing: "lower" }),
  base64: ({ fakes }) => bytesOf(fakes.faker.string.alphanumeric(12)).toString("base64"),
  base64url: ({ fakes }) => bytesOf(fakes.faker.string.alphanumeric(12)).toString("base64url"),
  json_string: ({ fakes }) => JSON.stringify({ text: fakes.faker.lorem.word() }),
  e164: ({ fakes }) => `+4930${fakes.faker.string.numeric(7)}`,
  jwt: ({ fakes }, { alg }) => {
    const part = (value: object) => bytesOf(JSON.stringify(value)).toString("base64url");
    const head = part({ typ: "JWT", alg: alg ?? "HS256" });
    return `${head}.${part({ sub: fakes.faker.string.alphanumeric(8) })}.${fakes.faker.string.alphanumeric(43)}`;
  },
  date: (place) => isoTime(place).slice(0, 10),
  time: (place, { precision }) => timeOf(isoTime(place).slice(11, -1), precision),
  datetime: (place, { precision }) => {
    const [date = "", time = ""] = isoTime(place).slice(0, -1).split("T");
    return `${date}T${timeOf(time, precision)}Z`;
  },
  duration: ({ fakes }) => `PT${fakes.faker.number.int({ min: 1, max: 180 })}M`,
};

/** Returns a text of a format, or undefined if it is no format of Zod. */
export function formatText(
  place: Place,
  format: Definition,
  maxLength: number,
): string | undefined {
  const make = Object.hasOwn(makers, format.format ?? "") ? makers[format.format!] : undefined;
  return make?.(place, format, maxLength);
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text);
}

/** Sets the version in a random UUID, which is of version 4. */
function uuid(text: string, version: string | undefined): string {
  return version === undefined ? text : `${text.slice(0, 14)}${version.slice(1)}${text.slice(15)}`;
}

/** `10:20:30.456` with a precision of 0 → `10:20:30`, and of -1 → `10:20`. */
function timeOf(time: string, precision: number | null | undefined): string {
  if (precision === undefined || precision === null) return time;
  if (precision === -1) return time.slice(0, 5);
  return precision === 0
    ? time.slice(0, 8)
    : `${time.padEnd(9 + precision, "0").slice(0, 9 + precision)}`;
}
