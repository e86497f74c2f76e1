/** Lines shorter than this many milliseconds are folded, in a request long enough to have longer ones. */
const usual = 1

/** A short request folds what is shorter than this part of it. */
const part = 1 / 20

/** The threshold of the waterfall: the one that the query asks for, or one that suits the request. */
export function foldThreshold(query: URLSearchParams | undefined, duration: number): number {
  const asked = query?.get('fold') ?? ''
  if (/^\d{1,6}(?:\.\d{1,3})?$/.test(asked)) return Number(asked)
  return Math.min(usual, Number((duration * part).toPrecision(1)))
}
