/**
 * Where a word is in a document, as it is encoded. Fresh documents and segments have the same
 * bytes, so folds and merges copy them.
 */
export interface EncodedPlaces {
  readonly bytes: Uint8Array;
  /** How often it is in each field: `bytes[countsStart, countsEnd)`, see `writeCounts`. */
  readonly countsStart: number;
  readonly countsEnd: number;
  /** Its positions: `bytes[placesStart, placesEnd)`, see `writePlaces`. */
  readonly placesStart: number;
  readonly placesEnd: number;
}
