import { basicFilter, lookup } from 'bcp-47-match'
import Negotiator from 'negotiator'
import { memoize } from './memoize.ts'

/** Clients send few different headers, and parsing one costs more than most requests' other work. */
const mostKept = 200

/**
 * Makes a function that chooses among media types by an Accept header (RFC 9110, section 12.5.1). The first type is
 * the answer to no header, to one that accepts none of the types, and to one that cannot be read.
 */
export function negotiateType<Type extends string>(
  types: readonly [Type, ...Type[]],
): (accept: string | undefined) => Type {
  return byHeader(accept => {
    const preferred = new Negotiator({ headers: { accept } }).mediaType([...types])
    return types.find(type => type === preferred) ?? types[0]
  })
}

/** The language ranges of an Accept-Language header (RFC 9110, section 12.5.4), the preferred first, without "*". */
export const languageRanges = byHeader((header): readonly string[] =>
  new Negotiator({ headers: { 'accept-language': header } }).languages().filter(range => range !== '*'),
)

/**
 * The first of these language tags that one of the ranges, in their order, names, narrows (de for de-AT) or widens
 * (de-AT for de): the lookup of RFC 4647.
 */
export function lookupLanguage(tags: readonly string[], ranges: readonly string[]): string | undefined {
  for (const range of ranges) {
    const tag = lookup([...tags], range) ?? basicFilter([...tags], range)[0]
    if (tag !== undefined) return tag
  }
}

function byHeader<Choice>(choose: (header: string | undefined) => Choice): (header: string | undefined) => Choice {
  const byDefault = choose(undefined)
  const chosen = memoize(choose, mostKept)
  return header => (header === undefined ? byDefault : chosen(header))
}
