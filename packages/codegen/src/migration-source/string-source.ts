import type { JsonSchema } from "@keywright/orm/codegen";
import {
  jsonSource,
  lengthsSource,
  literalSource,
  nameSource,
  regexSource,
} from "./literal-source.js";

/** Zod's schemas for formats, by the name of the format. */
const formats: Readonly<Record<string, string>> = {
  email: "z.email",
  uuid: "z.uuid",
  guid: "z.guid",
  url: "z.url",
  ulid: "z.ulid",
  nanoid: "z.nanoid",
  cuid: "z.cuid",
  cuid2: "z.cuid2",
  xid: "z.xid",
  ksuid: "z.ksuid",
  ipv4: "z.ipv4",
  ipv6: "z.ipv6",
  cidrv4: "z.cidrv4",
  cidrv6: "z.cidrv6",
  mac: "z.mac",
  base64: "z.base64",
  base64url: "z.base64url",
  e164: "z.e164",
  jwt: "z.jwt",
  emoji: "z.emoji",
  hostname: "z.hostname",
  hex: "z.hex",
  datetime: "z.iso.datetime",
  date: "z.iso.date",
  time: "z.iso.time",
  duration: "z.iso.duration",
};

/** The formats with a fixed pattern, which the manifest also contains. */
const ownPatterns: ReadonlySet<string> = new Set(["emoji", "mac"]);

/** The options that are regular expressions. The manifest contains them as text. */
const patternOptions: ReadonlySet<string> = new Set(["hostname", "protocol"]);

export function stringSource({ type, minLength, maxLength, allOf, ...own }: JsonSchema): string {
  const several = Array.isArray(allOf) ? (allOf as readonly JsonSchema[]) : [];
  const parts = [...(Object.keys(own).length > 0 ? [own] : []), ...several];
  const [first] = parts.filter(({ format }) => isSchema(format));
  const checks = parts.filter((part) => part !== first).map(checkSource);
  const base = first === undefined ? "z.string()" : formatSource(first);
  return `${base}${checks.join("")}${lengthsSource(minLength, maxLength)}`;
}

function isSchema(format: unknown): boolean {
  return format !== undefined && !isLetterCase(format);
}

function isLetterCase(format: unknown): format is "lowercase" | "uppercase" {
  return format === "lowercase" || format === "uppercase";
}

function checkSource(part: JsonSchema): string {
  if (isLetterCase(part.format)) return `.${part.format}()`;
  return isSchema(part.format) ? `.check(${formatSource(part)})` : `.regex(${patternSource(part)})`;
}

function formatSource(part: JsonSchema): string {
  const { format, pattern, flags, ...options } = part;
  const name = String(format);
  const hash = /^(md5|sha1|sha256|sha384|sha512)_hex$/.exec(name);
  if (hash?.[1] !== undefined) return `z.hash(${jsonSource(hash[1])})`;
  const constructorName = Object.hasOwn(formats, name) ? formats[name] : undefined;
  if (constructorName === undefined) {
    const test = pattern === undefined ? "() => true" : patternSource(part);
    return `z.stringFormat(${jsonSource(name)}, ${test})`;
  }
  const settings = Object.entries(options).map(([option, value]) =>
    patternOptions.has(option)
      ? `${option}: ${optionPatternSource(String(value))}`
      : `${nameSource(option)}: ${literalSource(value)}`,
  );
  if (pattern !== undefined && !ownPatterns.has(name)) {
    settings.push(`pattern: ${patternSource(part)}`);
  }
  return settings.length === 0
    ? `${constructorName}()`
    : `${constructorName}({ ${settings.join(", ")} })`;
}

function patternSource({ pattern, flags }: JsonSchema): string {
  return regexSource(String(pattern), typeof flags === "string" ? flags : "");
}

function optionPatternSource(text: string): string {
  const end = text.lastIndexOf("/");
  return regexSource(text.slice(1, end), text.slice(end + 1));
}
