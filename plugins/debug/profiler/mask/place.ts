/** A place in a text: from its first character to the one behind its last. */
export type Place = readonly [from: number, to: number]
