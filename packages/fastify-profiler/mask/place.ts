/** A range of a text, as `slice` takes it: `to` is exclusive. */
export type Place = readonly [from: number, to: number]
