const maxDepth = 64;
const maxInt64 = (1n << 63n) - 1n;
const minInt64 = -(1n << 63n);
/** Keys by which msgpackr is led astray: it renames one, and takes the others for the value's class and serialiser. */
const reservedKeys: ReadonlySet<string> = new Set([
	"__proto__",
	"constructor",
	"toJSON",
]);

/**
 * True where MessagePack alone keeps every detail of a value: null, undefined, booleans, well-formed strings, numbers
 * but -0, bigints of 64 bits, valid dates, bytes, and plain objects and dense arrays of these, with nothing referenced
 * twice. False sends the value to the graph format; it doesn't mean that the value cannot be stored.
 */
export function isPlain(value: unknown): boolean {
	return (
		isPlainScalar(value) ?? isPlainTree(value as object, new SeenObjects(), 0)
	);
}

/** Whether a value that has no parts is plain; undefined for an object, which may have some. */
export function isPlainScalar(value: unknown): boolean | undefined {
	switch (typeof value) {
		case "string":
			return value.isWellFormed();
		case "number":
			return value !== 0 || !Object.is(value, -0);
		case "boolean":
		case "undefined":
			return true;
		case "object":
			return value === null ? true : undefined;
		case "bigint":
			return value >= minInt64 && value <= maxInt64;
		default:
			return false;
	}
}

function isPlainTree(value: object, seen: SeenObjects, depth: number): boolean {
	if (depth > maxDepth) return false;
	const prototype = Object.getPrototypeOf(value);
	if (prototype === Object.prototype) {
		if (!seen.add(value)) return false;
		for (const key of Object.keys(value)) {
			if (reservedKeys.has(key) || !key.isWellFormed()) return false;
			if (!isPlainPart((value as Record<string, unknown>)[key], seen, depth))
				return false;
		}
		return true;
	}
	if (prototype === Array.prototype) {
		const array = value as unknown[];
		// As many own keys as elements: no hole, and no further property beside them.
		if (!seen.add(array) || Object.keys(array).length !== array.length)
			return false;
		for (const element of array)
			if (!isPlainPart(element, seen, depth)) return false;
		return true;
	}
	if (prototype === Date.prototype)
		return seen.add(value) && !Number.isNaN((value as Date).getTime());
	if (prototype === Uint8Array.prototype)
		return seen.add((value as Uint8Array).buffer);
	return false;
}

function isPlainPart(
	value: unknown,
	seen: SeenObjects,
	depth: number,
): boolean {
	return isPlainScalar(value) ?? isPlainTree(value as object, seen, depth + 1);
}

/** The objects met so far: a few in a list, which is quicker to make and to search than a set, then in a set. */
class SeenObjects {
	readonly #few: object[] = [];
	#many: Set<object> | undefined;

	/** Adds an object; false where it was there already. */
	add(object: object): boolean {
		if (this.#many === undefined) {
			if (this.#few.includes(object)) return false;
			if (this.#few.push(object) > 16) this.#many = new Set(this.#few);
			return true;
		}
		if (this.#many.has(object)) return false;
		this.#many.add(object);
		return true;
	}
}
