import { basicFilter, lookup } from 'bcp-47-match'
import Negotiator from 'negotiator'
import { memoize } from './memoize.ts'

/** Clients send few different headers. */
const mostKept = 200

/**
 * Makes a function that chooses a media type by an Accept header (RFC 9110, section 12.5.1). It chooses the first type
 * if the header is missing, malformed or accepts none of the types.
 */
export function negotiateType<Type extends string>(
  types: readonly [Type, ...Type[]],
): (accept: string | undefined) => Type {
  return byHeader(accept => {
    const preferred = new Negotiator({ headers: { accept } }).mediaType([...types])
    return types.find(type => type === preferred) ?? types[0]
  })
}

/** Of a header that asks for a language. Clients state a dozen at most, and each costs a comparison with each tag. */
const mostRanges = 100
/** In characters. A longer range costs a comparison for each of its subtags. */
const longestRange = 100

/** The language ranges of an Accept-Language header (RFC 9110, section 12.5.4), preferred first, without "*". */
export const languageRanges = byHeader((header): readonly string[] => {
  const ranges = new Negotiator({ headers: { 'accept-language': header } }).languages()
  return [...new Set(ranges)].filter(range => range !== '*').slice(0, mostRanges)
})

/**
 * The language tag for the first range that has one: the same, a more general one (de for de-AT) or a more specific one
 * (de-AT for de). Based on the lookup of RFC 4647.
 */
export function lookupLanguage(tags: readonly string[], ranges: readonly string[]): string | undefined {
  for (const range of ranges) {
    if (range.length > longestRange) continue
    const tag = lookup([...tags], range) ?? basicFilter([...tags], range)[0]
    if (tag !== undefined) return tag
  }
}

function byHeader<Choice>(choose: (header: string | undefined) => Choice): (header: string | undefined) => Choice {
  const byDefault = choose(undefined)
  const chosen = memoize(choose, mostKept)
  return header => (header === undefined ? byDefault : chosen(header))
}
