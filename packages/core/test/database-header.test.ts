import { Buffer } from "node:buffer";
import { crc32 } from "node:zlib";
import { describe, expect, it } from "vitest";
import { encodeDatabaseHeader, verifyDatabaseHeader } from "../src/engine/level/database-header.js";
import { headerKey } from "../src/engine/level/reserved-keys.js";
import { CorruptionError, DatabaseFormatError } from "../src/errors/core-errors.js";

function sealed(body: string): Uint8Array {
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32BE(crc32(Buffer.from(body, "latin1"), crc32(headerKey)));
  return Buffer.concat([Buffer.from(body, "latin1"), checksum]);
}

describe("the database header", () => {
  it("is the word keywright, the format, the mode and a checksum", () => {
    const header = encodeDatabaseHeader("specification");
    expect(Buffer.from(header)).toEqual(sealed("keywright\x01\x00"));
    expect(Buffer.from(header).toString("hex")).toBe("6b65797772696768740100e110234e");
    expect(() => verifyDatabaseHeader(header, "specification")).not.toThrow();
    const denoHeader = encodeDatabaseHeader("deno");
    expect(Buffer.from(denoHeader)).toEqual(sealed("keywright\x01\x01"));
    expect(() => verifyDatabaseHeader(denoHeader, "deno")).not.toThrow();
    const logged = encodeDatabaseHeader("specification", true);
    expect(Buffer.from(logged)).toEqual(sealed("keywright\x02\x00"));
    expect(() => verifyDatabaseHeader(logged, "specification")).not.toThrow();
  });

  it.each(["specification", "deno"] as const)("of mode %s is refused in the other one", (mode) => {
    const other = mode === "deno" ? "specification" : "deno";
    const verify = () => verifyDatabaseHeader(encodeDatabaseHeader(mode), other);
    expect(verify).toThrow(expect.objectContaining({ code: "KW_DATABASE_MODE", mode }));
  });

  it("with any bit flipped, cut short or longer is damaged", () => {
    const header = encodeDatabaseHeader("specification");
    for (let bit = 0; bit < header.length * 8; bit++) {
      const damaged = header.slice();
      damaged[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => verifyDatabaseHeader(damaged, "specification")).toThrow(CorruptionError);
    }
    for (let size = 0; size < header.length; size++)
      expect(() => verifyDatabaseHeader(header.subarray(0, size), "specification")).toThrow(
        CorruptionError,
      );
    expect(() =>
      verifyDatabaseHeader(Buffer.concat([header, Uint8Array.of(0)]), "specification"),
    ).toThrow(CorruptionError);
  });

  it.each([
    ["of a later format", "keywright\x03\x00"],
    ["of a later mode", "keywright\x01\x02"],
    ["of another program", "something\x01\x00"],
    ["of another program, and short", "x"],
  ])("%s is refused", (_name, body) => {
    expect(() => verifyDatabaseHeader(sealed(body), "specification")).toThrow(DatabaseFormatError);
  });
});
